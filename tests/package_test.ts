/**
 * The packed package installs and works in an empty project, with and without the optional terminal back-ends.
 *
 * @module
 */

import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import process from "node:process";
import { after, before, test } from "node:test";
import { VERSION } from "../adapters/version.ts";
import { readJson, readText, root } from "./project.ts";
import { skipUnless } from "./skip.ts";

/** Only the compiled tests, that is the Node that has npm, try the package: it starts the other runtimes itself. */
const skip = skipUnless(import.meta.url.includes("/.build/"), "the package is tried once, by the Node that runs npm");

const RUNTIMES = [
  { entry: "node", argv: [process.execPath] },
  { entry: "deno", argv: [join(root, "node_modules", ".bin", "deno"), "run", "-A"] },
  { entry: "bun", argv: [join(root, "node_modules", ".bin", "bun")] },
] as const;

const { exports } = readJson("deno.json") as { readonly exports: Readonly<Record<string, string>> };
const { peerDependencies } = readJson("package.json") as {
  readonly peerDependencies: Readonly<Record<string, string>>;
};
const WITHOUT_OPTIONAL = ["--omit=optional"];

let folder = "";
let tarball = "";

before(() => {
  if (skip !== false) return;
  folder = mkdtempSync(join(tmpdir(), "offstage-package-"));
  const name = run(root, "npm", "pack", "--silent", "--pack-destination", folder).trim().split("\n").at(-1) ?? "";
  tarball = join(folder, name);
});

after(() => {
  if (folder !== "") rmSync(folder, { recursive: true, force: true });
});

test("the package runs a command on each runtime without its optional dependencies", { skip }, () => {
  const project = install("bare", WITHOUT_OPTIONAL);
  for (const { entry, argv } of [...RUNTIMES, { ...RUNTIMES[0], entry: "auto" }]) {
    assertEquals(runAgent(project, entry, argv, false), { hi: true, pty: false }, entry);
  }
});

test(
  "P21 the package opens a terminal, shows its screen and serves its page on each runtime with its optional dependencies",
  { skip },
  () => {
    const project = install("full", [`bun-pty@${peerDependencies["bun-pty"]}`]);
    for (const { entry, argv } of RUNTIMES) {
      assertEquals(runAgent(project, entry, argv, true), { hi: true, pty: true }, entry);
      assertMatch(lookAtScreen(project, entry, argv), /^hi\n\[screen 120x30; cursor row 1 col 0; /, entry);
      assertMatch(loadPage(project, entry, argv), /^\d\d files \[200\]$/, entry);
    }
    rmSync(join(project, "node_modules", "@xterm"), { recursive: true });
    for (const { entry, argv } of RUNTIMES) {
      assertStringIncludes(lookAtScreen(project, entry, argv), "npm install @xterm/headless", entry);
      assertMatch(loadPage(project, entry, argv), /^\d\d files \[200,404\] npm install @xterm\/xterm$/, entry);
    }
  },
);

test("the package brings a command line", { skip }, () => {
  const project = install("command", WITHOUT_OPTIONAL);
  const path = `${join(project, "node_modules", ".bin")}${delimiter}${process.env["PATH"]}`;
  const env = { ...process.env, PATH: path };
  const run = (...args: readonly string[]): readonly [string, number | null] => {
    const { stdout, status } = spawnSync("offstage", ["exec", ...args], { encoding: "utf8", env });
    return [stdout, status];
  };
  assertEquals(run("echo hi"), ["hi\n", 0]);
  assertEquals(run("--timeout", "30", "echo", "--help", "--pty"), ["--help --pty\n", 0]); // those are the command's
  assertEquals(run("--timeout", "soon", "true"), ["", 125]);
  const { stderr, status } = spawnSync("offstage", ["serve"], { encoding: "utf8", env });
  assertEquals(status, 125);
  assertMatch(stderr, /^offstage: Cannot serve: .*'hono'.*: npm install hono @hono\/node-server ws\n$/);
  const mcp = spawnSync("offstage", ["mcp"], { encoding: "utf8", env });
  assertEquals([mcp.stdout, mcp.status], ["", 125]);
  assertStringIncludes(mcp.stderr, "npm install @modelcontextprotocol/server");
});

test("the README's lines for npx, bunx and deno run the installed package, without a network", { skip }, () => {
  const project = install("lines", WITHOUT_OPTIONAL);
  const [, block = ""] = /### On the command line\n\n```sh\n([^]*?)\n```/.exec(readText("README.md")) ?? [];
  const lines = block.split("\n").map((line) => line.split(" #")[0]?.trim() ?? "");
  const launchers = lines.map((line) => /^(?:npx|bunx|deno run -A (?:npm|jsr))\b/.exec(line)?.[0]);
  assertEquals([...new Set(launchers)], ["npx", "bunx", "deno run -A npm", "deno run -A jsr"]);
  const nowhere = "http://127.0.0.1:9"; // the discard port: nothing that is not here already can be fetched
  const proxies = { HTTP_PROXY: nowhere, HTTPS_PROXY: nowhere, http_proxy: nowhere, https_proxy: nowhere };
  const PATH = `${process.env["PATH"]}${delimiter}${join(root, "node_modules", ".bin")}`;
  for (const line of lines) {
    // What is published at JSR are the sources
    const [command = "", isTest] = [
      line.replace("jsr:@offstage/exec/cli", join(root, exports["./cli"] ?? "")).replace("'npm test'", "'echo hi'"),
      line.includes("'npm test'"),
    ];
    const env = { ...process.env, ...proxies, PATH };
    const { stdout, stderr, status } = spawnSync("sh", ["-c", command], { cwd: project, encoding: "utf8", env });
    assertEquals(status, 0, `${line}: ${stderr}`);
    if (isTest) assertEquals(stdout, "hi\n", line);
  }
});

test("npx runs the package where it is not installed", { skip }, () => {
  const elsewhere = join(folder, "elsewhere");
  const cache = join(elsewhere, "cache");
  mkdirSync(cache, { recursive: true });
  // npx installs into the cache: into one of its own, which shares what was fetched before
  symlinkSync(join(run(elsewhere, "npm", "config", "get", "cache").trim(), "_cacache"), join(cache, "_cacache"));
  const npx = ["--prefer-offline", "--cache", cache, ...WITHOUT_OPTIONAL, "-y", "--package", tarball, "offstage"];
  assertEquals(run(elsewhere, "npx", ...npx, "exec", "echo hi"), "hi\n");
  assertEquals(run(elsewhere, "npx", ...npx, "--version"), `${VERSION}\n`);
});

test("the package brings the skill and the texts", { skip }, () => {
  const project = join(install("texts", WITHOUT_OPTIONAL), "node_modules", "offstage");
  const { agents } = JSON.parse(readFileSync(join(project, "package.json"), "utf8")) as {
    readonly agents: { readonly skills: readonly { readonly name: string; readonly path: string }[] };
  };
  assertEquals(agents.skills.map(({ name }) => name), ["offstage"]);
  const files = [...agents.skills.map(({ path }) => `${path}/SKILL.md`), "SECURITY.md", "CHANGELOG.md", "README.md"];
  assertEquals(files.filter((file) => !existsSync(join(project, file))), []);
});

test("the package's types need no types of any runtime", { skip }, () => {
  const project = install("types", []);
  const names = Object.keys(exports).map((name) => name.replace(".", "offstage"));
  writeFileSync(
    join(project, "use.ts"),
    names.map((name, index) => `export * as e${index} from "${name}";\n`).join(""),
  );
  const options = "--noEmit --strict --module nodenext --target es2023 --lib es2023,esnext.disposable,dom --types";
  const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
  assertEquals(run(project, process.execPath, tsc, ...options.split(" "), "", "use.ts"), "");
});

/** Makes a project that has the package installed; `words` are what else `npm install` is told. */
function install(name: string, words: readonly string[]): string {
  const project = join(folder, name);
  mkdirSync(project);
  writeFileSync(join(project, "package.json"), JSON.stringify({ private: true, type: "module" }));
  run(project, "npm", "install", "--prefer-offline", "--no-audit", "--no-fund", "--silent", tarball, ...words);
  return project;
}

/** Lets an agent say `hi` in that project and tells what it answered. */
function runAgent(project: string, entry: string, argv: readonly string[], pty: boolean): unknown {
  const body = `const run = await offstage.agent("a").exec({ command: "echo hi", pty: ${pty} });
     console.log(JSON.stringify({ hi: run.text.includes("hi"), pty: run.details.pty }));`;
  return JSON.parse(runProgram(project, entry, argv, body));
}

/** What an agent that asks for a screen is told in that project. */
function lookAtScreen(project: string, entry: string, argv: readonly string[]): string {
  return runProgram(
    project,
    entry,
    argv,
    `const agent = offstage.agent("a");
     const { details } = await agent.exec({ command: "echo hi; read end", pty: true, background: true });
     const { text } = await agent.process({ action: "screen", sessionId: details.sessionId, until: "hi" });
     console.log(text);`,
  );
}

/** How the page's files are answered in that project, and what is to be done about it. */
function loadPage(project: string, entry: string, argv: readonly string[]): string {
  return runProgram(
    project,
    entry,
    argv,
    `const { createHttpApp } = await import("offstage/http");
     const app = createHttpApp(offstage, { tokens: new Map() });
     const get = (path) => app.fetch(new Request("http://127.0.0.1/" + path));
     const html = await (await get("")).text();
     const main = /page\\/\\w+\\/main.js/.exec(html)[0];
     const modules = (await (await get(main)).text()).matchAll(/from "\\.\\/(.+)"/g);
     const names = ["xterm.mjs", ...[...modules].map(([, name]) => name)].map((name) => main.replace("main.js", name));
     const answers = await Promise.all([...html.match(/page\\/[^"]+/g), ...names].map(get));
     const hint = answers.some(({ ok }) => !ok) ? (await (await get(names[0])).json()).error.hint : "";
     const statuses = [...new Set(answers.map(({ status }) => status))].sort();
     console.log(answers.length + " files " + JSON.stringify(statuses) + " " + hint);`,
  ).trim();
}

/** Runs a program that has an instance. */
function runProgram(project: string, entry: string, argv: readonly string[], body: string): string {
  writeFileSync(
    join(project, "main.mjs"),
    `import { createOffstage } from "offstage/${entry}";
     const offstage = createOffstage();
     ${body}
     await offstage.close();`,
  );
  const [program = "", ...args] = argv;
  return run(project, program, ...args, "main.mjs");
}

/** Runs a program to a good end and returns what it printed on stdout. */
function run(cwd: string, program: string, ...args: readonly string[]): string {
  const { stdout, stderr, status, error } = spawnSync(program, args, { cwd, encoding: "utf8", timeout: 300_000 });
  if (status !== 0) {
    throw new Error(`${program} ${args.join(" ")} ended with ${status ?? error}:\n${stdout}${stderr}`, {
      cause: error,
    });
  }
  return stdout;
}
