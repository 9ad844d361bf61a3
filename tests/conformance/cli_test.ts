/**
 * The verbs of the command line, as a user calls them.
 *
 * @module
 */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { chmodSync, writeFileSync } from "node:fs";
import { VERSION } from "../../adapters/version.ts";
import type { EndedDetails, RunningDetails } from "../../mod.ts";
import { closing, test } from "../closing.ts";
import { type Invocation, offstage, programOf, serverEnv } from "./cli.ts";
import { type Served, serveHttp, TOKENS } from "./http_server.ts";
import { freshFolder, posix, terminal } from "./machine.ts";

/** A served instance, and `offstage` against it. */
async function serve(): Promise<{ served: Served; cli: (...args: readonly string[]) => Promise<Invocation> }> {
  const served = await serveHttp();
  closing({ [Symbol.asyncDispose]: () => served.close() });
  return { served, cli: (...args) => offstage(args, { env: serverEnv(served) }) };
}

/** Starts a session. */
async function start({ offstage }: Served, command: string, more: object = {}): Promise<string> {
  const { details, text } = await offstage.agent("one").exec({ command, background: true, ...more });
  if (details.status !== "running") throw new Error(text);
  return (details as RunningDetails).sessionId;
}

test("ps lists the sessions, as a table, as ids and as JSON", { skip: posix }, async () => {
  const { served, cli } = await serve();
  assertEquals((await cli("ps", "-q")).stdout, "");
  const id = await start(served, "echo working; sleep 60");
  await served.offstage.agent("one").process({ action: "poll", sessionId: id, until: "working", timeout: 30_000 });
  const { stdout } = await cli("ps");
  assertMatch(
    stdout,
    new RegExp(`^ID +NAME +STATUS +TIME +PID +HOST +LAST LINE\n${id} +.* running +\\d+s +\\d+ +gateway +working\n$`),
  );
  assertEquals((await cli("ps", "-q")).stdout, `${id}\n`);
  assertEquals(JSON.parse((await cli("ps", "--json")).stdout)[0].sessionId, id);
});

test("send types, logs shows, wait exits with the session's code", { skip: posix }, async () => {
  const { served, cli } = await serve();
  const id = await start(served, "while read -r line; do echo got $line; done; exit 3");
  assertEquals(await cli("send", id, "one", "two", "--enter"), { stdout: "", stderr: "", code: 0 });
  const piped = await offstage(["send", id, "--eof"], { env: serverEnv(served), input: "three\nfour\n" });
  assertEquals(piped, { stdout: "", stderr: "", code: 0 });
  assertEquals(await cli("wait", id), { stdout: "exit code 3\n", stderr: "", code: 3 });
  assertEquals((await cli("logs", id)).stdout, "got one two\ngot three\ngot four\n");
  assertEquals((await cli("logs", id, "-n", "1")).stdout, "got four\n");
  assertEquals((await cli("logs", id, "-n", "all", "--grep", "t[wh]")).stdout, "got one two\ngot three\n");
  assertEquals(JSON.parse((await cli("logs", id, "--json")).stdout).totalLines, 3);
  const late = await cli("send", id, "more");
  assertEquals(late.code, 125);
  assertStringIncludes(late.stderr, "has ended");
});

test("send presses keys, and a secret leaves no echo", { skip: terminal }, async () => {
  const { served, cli } = await serve();
  const id = await start(served, "read -r secret; echo ${#secret}; sleep 60", { pty: true });
  assertEquals((await cli("send", id, "hunter2", "--sensitive", "--enter")).code, 0);
  await served.offstage.agent("one").process({ action: "poll", sessionId: id, until: "^7", timeout: 30_000 });
  assertEquals((await cli("send", id, "--keys", "C-c", "--json")).code, 0);
  assertEquals((await cli("wait", id)).code, 130);
  assert(!(await cli("logs", id)).stdout.includes("hunter2"));
  const wrong = await cli("send", id, "--keys", "C-entr");
  assertEquals(wrong.code, 125);
});

test("logs -f follows to the end, stdout and stderr apart", { skip: posix }, async () => {
  const { served, cli } = await serve();
  const id = await start(served, "echo one; echo oops >&2; sleep 0.3; echo two; exit 4");
  assertEquals(await cli("logs", "-f", id), { stdout: "one\ntwo\n", stderr: "oops\n", code: 0 });
  assertEquals((await cli("logs", "-f", "-n", "1", id)).stdout, "two\n");
  assertEquals((await cli("logs", "-f", "-n", "0", id)).stdout, "");
  const events = (await cli("logs", "-f", "--json", id)).stdout.trimEnd().split("\n").map((line) => JSON.parse(line));
  assertEquals(events.at(-1).exit.exitCode, 4);
});

test("kill ends sessions or sends one signal, and rm forgets them", { skip: posix }, async () => {
  const { served, cli } = await serve();
  const [one, two] = [await start(served, "sleep 60"), await start(served, "sleep 61")];
  assertEquals((await cli("kill", "-s", "INT", one)).code, 0);
  assertEquals((await cli("wait", one)).code, 130);
  assertEquals((await cli("kill", two)).code, 0);
  assertEquals((await cli("wait", two, "--json")).code, 143);
  assertEquals(await cli("rm", one), { stdout: `${one}\n`, stderr: "", code: 0 });
  assertEquals((await cli("wait", one)).code, 130); // it is remembered how it ended
  const unknown = await cli("rm", "amber-otter-0000");
  assertEquals(unknown.code, 125);
  assertStringIncludes(unknown.stderr, two);
  assertStringIncludes((await cli("rm", "--all")).stdout, two);
  assertEquals((await cli("ps", "-q")).stdout, "");
});

test("wait says 124 when its own time is up, and when the command's was", { skip: posix }, async () => {
  const { served, cli } = await serve();
  const id = await start(served, "sleep 60");
  const late = await cli("wait", id, "--timeout", "0.1");
  assertEquals([late.code, late.stderr], [124, `offstage: ${id} still runs\n`]);
  assertEquals((await cli("wait", await start(served, "sleep 60", { timeout: 0.2 }))).code, 124);
});

test("attach without a terminal passes stdin on and prints what comes", { skip: posix }, async () => {
  const { served } = await serve();
  const id = await start(served, "while read -r line; do echo got $line; done; exit 6");
  const run = await offstage(["attach", id], { env: serverEnv(served), input: "x\ny\n" });
  assertEquals([run.stdout, run.code, run.stderr], ["got x\ngot y\n", 6, `offstage: ${id}: exit code 6\n`]);
});

test("a token comes from a file too, and is never printed", { skip: posix }, async () => {
  const { served, cli } = await serve();
  const folder = closing(await freshFolder());
  const file = `${folder.path}/token`;
  writeFileSync(file, `# mine\none:${TOKENS.one}\ntwo:${TOKENS.two}\n`);
  chmodSync(file, 0o600);
  const id = await start(served, "sleep 60");
  const env = { OFFSTAGE_URL: served.url, OFFSTAGE_TOKEN: "" };
  assertEquals((await offstage(["ps", "-q", "--token-file", file], { env })).stdout, `${id}\n`);
  assertEquals((await offstage(["ps", "-q", "--token-file", file, "--scope", "two"], { env })).stdout, "");
  const none = await offstage(["ps"], { env });
  assertEquals([none.code, none.stderr.includes("No token")], [125, true]);
  const wrong = await cli("ps", "--token", "not-the-right-one");
  assertEquals([wrong.code, wrong.stderr.includes("not-the-right-one")], [125, false]);
  assertStringIncludes(wrong.stderr, "No valid token");
  assertStringIncludes(wrong.stderr, "Give its token by --token-file or OFFSTAGE_TOKEN");
});

test("what cannot be understood is named, with the nearest right word", async () => {
  const near = await offstage(["log"]);
  assertEquals((await offstage(["--version"])).stdout, `${VERSION}\n`);
  assertEquals(near, {
    stdout: "",
    stderr: 'offstage: Unknown verb "log": did you mean logs? offstage --help lists all\n',
    code: 125,
  });
  const wrong = [["ps", "--jsn"], ["wait"], ["wait", "a", "b"], ["logs", "a", "-n", "x"], ["kill"]];
  await Promise.all(wrong.map(async (args) => {
    const { code, stdout, stderr } = await offstage(args, { env: { OFFSTAGE_TOKEN: "token" } });
    assertEquals([code, stdout], [125, ""], args.join(" "));
    assertMatch(stderr, /^(?:offstage: \S.*\n){1,2}$/, args.join(" "));
  }));
  const misspelt = [
    ["ps", "--jsn", "json"],
    ["exec", "--time-out=3", "timeout"],
    ["serve", "--prot", "port"],
    ["mcp", "--readonly-tool", "read-only-tool"],
  ] as const;
  await Promise.all(misspelt.map(async ([verb, option, right]) => {
    const [line, hint] = (await offstage([verb, option])).stderr.split("\n");
    assertEquals(line, `offstage: Unknown option '${option.split("=")[0]}': did you mean --${right}?`);
    assertEquals(hint, "offstage: --help behind the verb lists its options");
  }));
  assertStringIncludes((await offstage(["send", "id", "-x"])).stderr, "after '--'"); // it may be meant to be typed
  for (const verb of ["serve", "mcp", "node"]) {
    assertStringIncludes((await offstage([verb, "here"])).stderr, 'Unexpected word "here"');
  }
  const nobody = await offstage(["ps", "--url", "http://127.0.0.1:1", "--token", "token"]);
  assertEquals(nobody.code, 125);
  assertStringIncludes(nobody.stderr, "offstage serve");
  const far = await offstage(["--json"]);
  assertEquals([far.code, far.stderr], [125, 'offstage: Unknown verb "--json": offstage --help lists all\n']);
});

test("with --json a failure is one line of JSON on stdout, whatever has failed", { skip: posix }, async () => {
  const { served, cli } = await serve();
  const failed: readonly (readonly [args: readonly string[], reason: string])[] = [
    ...["logs", "attach", "wait", "kill", "rm", "send"].map((verb) =>
      [[verb, "no-such-id"], "unknown-session"] as const
    ),
    [["logs", "-f", "no-such-id"], "unknown-session"],
    [["ps", "--token", "not-the-right-one"], "unauthorized"],
    [["ps", "--url", "http://127.0.0.1:1"], "unreachable"],
    [["wait", ""], "invalid"],
    [["kill"], "invalid"],
    [["ps", "--no-such-option"], "invalid"],
    [["exec", "--workdir", "/nowhere/at/all", "--json", "true"], "spawn-error"],
    [["exec", "--no-such-option", "--json", "true"], "invalid"],
  ];
  await Promise.all(failed.map(async ([args, reason]) => {
    const { stdout, stderr, code } = await cli(...args, ...(args.includes("--json") ? [] : ["--json"]));
    assertEquals([code, stderr], [125, ""], args.join(" "));
    const told = JSON.parse(stdout);
    assertEquals([told.status, told.reason, typeof told.message], ["failed", reason, "string"], args.join(" "));
  }));
  const id = await start(served, "sleep 60");
  const late = await cli("wait", id, "--timeout", "0.1", "--json");
  assertEquals([late.code, JSON.parse(late.stdout), late.stderr], [124, { sessionId: id, status: "running" }, ""]);
});

test("a problem of a parameter is told once", { skip: posix }, async () => {
  const { served, cli } = await serve();
  const { stderr } = await cli("logs", await start(served, "true"), "--grep", "(");
  assertEquals(stderr.match(/not a regular expression/g)?.length, 1, stderr);
});

test("send with nothing to type fails for a session that there is not", { skip: posix }, async () => {
  const { served, cli } = await serve();
  assertEquals((await cli("send", await start(served, "cat"))).code, 0);
  const { code, stderr } = await cli("send", "amber-otter-0000");
  assertEquals(code, 125);
  assertStringIncludes(stderr, "No session");
});

test("every verb has help that begins with examples", async () => {
  const { stdout } = await offstage(["--help"]);
  const verbs = [...(/^Verbs.*\n((?: {2}.*\n)+)/m.exec(stdout)?.[1] ?? "").matchAll(/^ {2}(\S+)/gm)].map(([, verb]) =>
    verb
  );
  assert(verbs.length >= 10, stdout);
  await Promise.all(verbs.map(async (verb = "") => {
    const help = await offstage([verb, "--help"]);
    assertEquals(help.code, 0, verb);
    assertMatch(help.stdout, new RegExp(`^Examples\n  offstage ${verb}\\b`), verb);
  }));
});

test("exec exits with the command's code, 124, 125, 126, 127 or 128 + n", { skip: posix }, async () => {
  const codes: readonly (readonly [args: readonly string[], code: number])[] = [
    [["exit 9"], 9],
    [["--timeout", "0.2", "sleep 60"], 124],
    [["--workdir", "/nowhere/at/all", "true"], 125],
    [["/"], 126],
    [["no-such-program-here"], 127],
    [["kill -9 $$"], 137],
    [["--timeout", "60", "--help"], 0],
    [["--", "exit 8"], 8],
    [["test", "--help", "=", "--json"], 1],
  ];
  await Promise.all(codes.map(async ([args, code]) => {
    assertEquals((await offstage(["exec", ...args])).code, code, args.join(" "));
  }));
});

test("E30 exec of a command that is over by the time it has started prints its output and exits with its code", {
  skip: posix,
}, async () => {
  const program = programOf("../fixtures/quick_exec");
  const { stdout, stderr, code } = await offstage(["echo out; echo err >&2; exit 4"], { program });
  assertEquals([stdout.split("\n").toSorted(), stderr, code], [["", "err", "out"], "", 4]);
  assertEquals(await offstage(["kill -KILL $$"], { program }), { stdout: "", stderr: "", code: 137 });
  const told = await offstage(["echo out; exit 2", "--json"], { program });
  const { status, exitCode, output } = JSON.parse(told.stdout) as EndedDetails;
  assertEquals([status, exitCode, output, told.code], ["completed", 2, "out\n", 2]);
});

test("exec and doctor print JSON", { skip: posix }, async () => {
  const { stdout, code } = await offstage(["exec", "--json", "echo out; echo err >&2; exit 2"]);
  const { output, exitCode, status } = JSON.parse(stdout) as EndedDetails;
  assertEquals([output.split("\n").toSorted(), exitCode, status, code], [["", "err", "out"], 2, "completed", 2]);
  assertMatch(JSON.parse((await offstage(["doctor", "--json"])).stdout).runtime, /^(?:node|deno|bun) /);
});

test(
  "exec --json tells the whole run as exec does, in however many pieces it was printed",
  { skip: posix },
  async () => {
    const pieces = "for i in 1 2 3; do printf '\\rstep %s' $i; sleep 0.2; done; echo";
    const { stdout, stderr } = await offstage(["exec", "--json", "--workdir", "/", pieces]);
    assertEquals([stderr, stdout.split("\n").length], ["", 2]);
    const { sessionId, startedAt, durationMs, ...told } = JSON.parse(stdout) as EndedDetails;
    assertMatch(String(sessionId), /^\w+-\w+-\w+$/);
    assert(durationMs >= 400 && startedAt + durationMs <= Date.now(), stdout);
    assertEquals<unknown>({ ...told, shell: "" }, {
      ...{ status: "completed", ok: true, exitCode: 0, signal: null, reason: "exit", limit: null },
      ...{ output: "step 3\n", truncated: false, dropped: 0, cwd: "/", host: "gateway", shell: "", pty: false },
      ...{ survivors: [], warnings: [] },
    });
  },
);
