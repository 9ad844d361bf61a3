/**
 * `offstage serve`: what it prints, whom it lets in, and how it ends.
 *
 * @module
 */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { execFile, spawn } from "node:child_process";
import { chmodSync, cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { test } from "node:test";
import { promisify } from "node:util";
import type { ExecAnswer } from "../../mod.ts";
import { root } from "../project.ts";
import { skipUnless } from "../skip.ts";
import { posix } from "./machine.ts";
import { type ServeProgram, serveProgram, watch } from "./serve_program.ts";

const run = promisify(execFile);
const ONE = "token-of-one-1234567890";
const ADMIN = "token-of-admin-1234567890";

/** Exit code of the command line for failures of its own. */
const OWN_FAILURE = 125;

async function post(url: string, token: string, path: string, body: unknown): Promise<Response> {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  return await fetch(url + path, { method: "POST", headers, body: JSON.stringify(body) });
}

async function exec(url: string, token: string, params: object): Promise<ExecAnswer> {
  return await (await post(url, token, "/v1/exec", params)).json() as ExecAnswer;
}

/** Whether a command that sleeps for that many seconds, a number nobody else has, is there. */
async function sleeps(seconds: number): Promise<boolean> {
  return await run("pgrep", ["-f", `sleep ${seconds}$`]).then(() => true, () => false);
}

/** Waits for what is sure to come. */
async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!await holds()) await sleep(20);
}

/** A number of seconds that no other test sleeps. */
const aDay = (): number => 86_400 + Math.floor(Math.random() * 1e9);

async function end({ kill, ended }: ServeProgram): Promise<void> {
  kill("SIGKILL");
  await ended;
}

test("it prints its address, a token and a curl line that runs a command, and ends with nothing left", {
  skip: posix,
}, async () => {
  const server = serveProgram(["--log", "json"]);
  try {
    const url = await server.url;
    const { stdout } = server.printed;
    const [, token = ""] = /^Token of the scope default: (\S{32})$/m.exec(stdout) ?? [];
    const [, curl = ""] = /^ {2}(curl .*)$/m.exec(stdout) ?? [];
    const answer = JSON.parse((await run("sh", ["-c", curl])).stdout) as ExecAnswer;
    assertEquals(answer.text, "hello");
    const seconds = aDay();
    const started = await exec(url, token, { command: `trap '' TERM; sleep ${seconds}`, background: true });
    assertEquals(started.details.status, "running");
    await until(() => sleeps(seconds)); // its shell has something to do before
    server.kill("SIGTERM");
    assertEquals(await server.ended, [0, null]);
    assert(!await sleeps(seconds));
    const lines = server.printed.stderr.trimEnd().split("\n").map((line) => JSON.parse(line) as { route: string });
    assertEquals(lines.map(({ route }) => route), ["/v1/exec", "/v1/exec"]);
    assert(!server.printed.stderr.includes(token));
  } finally {
    await end(server);
  }
});

test("with --json what it prints is one line, by which the program that started it runs a command", {
  skip: posix,
}, async () => {
  for (const given of [undefined, ONE]) {
    const server = serveProgram(["--json"], given === undefined ? {} : { OFFSTAGE_TOKENS: `one:${given}` });
    try {
      await until(() => Promise.resolve(server.printed.stdout.includes("\n")));
      const { url, page, token, runtime } = JSON.parse(server.printed.stdout) as Readonly<
        Record<string, string | null>
      >;
      assertEquals([token === null, page], [
        given !== undefined,
        `${url}/${given === undefined ? `#token=${token}` : ""}`,
      ]);
      assertMatch(String(runtime), /^(?:node|deno|bun) \d/);
      assertEquals((await exec(String(url), given ?? String(token), { command: "echo hello" })).text, "hello");
      server.kill("SIGTERM");
      assertEquals(await server.ended, [0, null]);
    } finally {
      await end(server);
    }
  }
});

test("R14 tokens come from OFFSTAGE_TOKENS, and no command sees them", { skip: posix }, async () => {
  const server = serveProgram([], { OFFSTAGE_TOKENS: `agent:one:${ONE}, *:${ADMIN}` });
  try {
    const url = await server.url;
    const seen = await exec(url, ONE, { command: "env", pty: false });
    assertStringIncludes(seen.text, "OFFSTAGE_SESSION_ID=");
    assert(!seen.text.includes("OFFSTAGE_TOKENS") && !seen.text.includes(ONE) && !seen.text.includes(ADMIN));
    assertEquals((await post(url, "nobody-has-this-token", "/v1/exec", { command: "true" })).status, 401);
    await exec(url, ONE, { command: "sleep 60", background: true });
    const headers = { authorization: `Bearer ${ADMIN}` };
    const { sessions } = await (await fetch(`${url}/v1/sessions`, { headers })).json() as {
      sessions: { scope: string }[];
    };
    assertEquals(sessions.map(({ scope }) => scope), ["agent:one"]);
    server.kill("SIGINT");
    assertEquals(await server.ended, [0, null]);
    const { stdout, stderr } = server.printed;
    assertMatch(stdout, /curl .*Bearer \$TOKEN/);
    for (const token of [ONE, ADMIN]) assert(!(stdout + stderr).includes(token));
  } finally {
    await end(server);
  }
});

test("tokens come from a file that nobody else may read, and no refusal tells one", { skip: posix }, async () => {
  const folder = mkdtempSync(join(tmpdir(), "offstage-tokens-"));
  try {
    const file = join(folder, "tokens");
    const refusalOf = async (text: string, mode: number): Promise<string> => {
      writeFileSync(file, text);
      chmodSync(file, mode);
      const server = serveProgram(["--token-file", file]);
      assertEquals(await server.ended, [OWN_FAILURE, null]);
      return server.printed.stderr;
    };
    assertStringIncludes(await refusalOf(`one:${ONE}\n`, 0o644), `chmod 600 ${file}`);
    assertStringIncludes(await refusalOf(`# mine\n\n${ONE}\n`, 0o600), "line 3: expected scope:token");
    const short = await refusalOf("one:secret\n", 0o600);
    assertMatch(short, /line 1: the token is shorter than 16 characters/);
    assert(!short.includes("secret"));
    assertStringIncludes(
      await refusalOf(`one:${ONE}\ntwo:${ONE}\n`, 0o600),
      "line 2: the token is that of another scope too",
    );
    assert(!(await refusalOf(`one:${ONE}two:${ADMIN}é\n`, 0o600)).includes(ONE)); // a line end is missing
    writeFileSync(file, `# mine\n\n one : ${ONE} \r\n*:${ADMIN}`);
    const server = serveProgram(["--token-file", file]);
    try {
      assertEquals((await exec(await server.url, ONE, { command: "echo hi" })).text, "hi");
    } finally {
      await end(server);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("[137] without tokens it listens on the loopback only, and says what to do", async () => {
  for (const host of ["0.0.0.0", "::", "example.org", "192.0.2.1", "127.0.0.1.example.org"]) {
    const server = serveProgram(["--host", host]);
    assertEquals(await server.ended, [OWN_FAILURE, null], host);
    assertMatch(server.printed.stderr, /--token-file or OFFSTAGE_TOKENS/);
  }
});

test("what cannot be is refused in a line, and one more if there is something to look up", async () => {
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
  const { port } = taken.address() as { port: number };
  const wrong: readonly (readonly [readonly string[], RegExp])[] = [
    [["--port", String(port)], new RegExp(`Port ${port} is taken: choose another one with --port`)],
    [["--port", "65536"], /--port: expected 0 to 65535/],
    [["--port", "1.5"], /--port: expected a whole number/],
    [["--log", "xml"], /--log: expected text or json or off/],
    [["--allow-origin", "app.example"], /--allow-origin: expected an origin/],
    [["--prot", "1"], /--prot/],
  ];
  try {
    for (const [words, message] of wrong) {
      const server = serveProgram(words);
      assertEquals(await server.ended, [OWN_FAILURE, null], words.join(" "));
      assertMatch(server.printed.stderr, message);
      const lines = server.printed.stderr.trimEnd().split("\n");
      assert(lines.length <= 2 && lines.every((line) => line.startsWith("offstage: ")), server.printed.stderr);
    }
  } finally {
    taken.close();
  }
});

test("with --on-exit wait its sessions may end, can be asked for until then, and none is started", {
  skip: posix,
}, async () => {
  const server = serveProgram(["--on-exit", "wait"], { OFFSTAGE_TOKENS: `one:${ONE}` });
  try {
    const url = await server.url;
    const { details } = await exec(url, ONE, { command: "read -r line; echo got $line", background: true });
    const sessionId = details.status === "running" ? details.sessionId : "";
    server.kill("SIGTERM");
    await until(async () => (await fetch(`${url}/healthz`)).status === 503);
    const refused = await exec(url, ONE, { command: "true" });
    assertMatch(refused.text, /the server is about to end/);
    const poll = post(url, ONE, "/v1/process", { action: "poll", sessionId, until: "exit", timeout: 20_000 });
    await post(url, ONE, `/v1/sessions/${sessionId}/write`, { data: "it\n" });
    assertMatch(JSON.stringify(await (await poll).json()), /got it/);
    assertEquals(await server.ended, [0, null]);
  } finally {
    await end(server);
  }
});

test("a second signal ends it at once, with nothing left", { skip: posix }, async () => {
  const server = serveProgram(["--on-exit", "wait"], { OFFSTAGE_TOKENS: `one:${ONE}` });
  try {
    const url = await server.url;
    const seconds = aDay();
    await exec(url, ONE, { command: `sleep ${seconds}`, background: true });
    server.kill("SIGINT");
    server.kill("SIGINT"); // a terminal's signal comes twice if a launcher passes it on
    await until(async () => (await fetch(`${url}/healthz`)).status === 503);
    await sleep(600);
    assertEquals((await fetch(`${url}/healthz`)).status, 503);
    server.kill("SIGINT");
    assertEquals(await server.ended, [1, null]);
    await until(async () => !await sleeps(seconds));
  } finally {
    await end(server);
  }
});

/** The scripts are tried once, by the Node that has npm. */
const skip = skipUnless(
  import.meta.url.includes("/.build/"),
  "start scripts are tried once, by the Node that runs npm",
);

test("npm start, bun run start and deno task start serve on their runtime, with the page", { skip }, async () => {
  const project = mkdtempSync(join(tmpdir(), "offstage-start-"));
  try {
    for (const name of ["mod.ts", "src", "adapters", "package.json", "deno.json", "tsconfig.json", "bunfig.toml"]) {
      cpSync(join(root, name), join(project, name), { recursive: true });
    }
    cpSync(join(root, "tests/std_assert"), join(project, "tests/std_assert"), { recursive: true });
    symlinkSync(join(root, "node_modules"), join(project, "node_modules"));
    const bin = join(root, "node_modules/.bin");
    const scripts = [
      ["node", "npm", "start", "--", "--port", "0"],
      ["bun", join(bin, "bun"), "run", "start", "--port", "0"],
      ["deno", join(bin, "deno"), "task", "start", "--port", "0"],
    ] as const;
    for (const [runtime, program, ...args] of scripts) {
      const env = { ...process.env, PATH: `${bin}:${process.env["PATH"]}` };
      const child = spawn(program, args, { cwd: project, env, detached: true });
      const server = watch(child);
      const url = await server.url;
      assertMatch(server.printed.stdout, new RegExp(`Offstage on ${runtime} \\d`));
      assertEquals((await fetch(url)).status, 200, `the page on ${runtime}`);
      process.kill(-(child.pid ?? NaN), "SIGINT"); // as a terminal does
      await server.ended;
    }
  } finally {
    rmSync(project, { recursive: true });
  }
});
