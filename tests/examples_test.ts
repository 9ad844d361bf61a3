/**
 * The examples run on this runtime as they stand, and print what they say they print.
 *
 * @module
 */
import { assert, assertEquals } from "@std/assert";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import process from "node:process";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { exists, listFiles, readJson, readText, root } from "./project.ts";
import { saidOutput } from "./said_output.ts";
import { runtimeName, skipUnless } from "./skip.ts";

/** Where this test and the sources beside it are: compiled they are elsewhere, examples too. */
const top = dirname(dirname(fileURLToPath(import.meta.url)));
const extension = import.meta.url.endsWith(".js") ? "js" : "ts";

const { exports } = readJson("deno.json") as { readonly exports: Readonly<Record<string, string>> };
const examples = listFiles("examples", ".ts");
const skip = skipUnless(process.platform !== "win32", "the commands of the examples are for a POSIX shell");

let folder = "";

before(() => {
  mkdirSync(join(root, ".build"), { recursive: true });
  folder = mkdtempSync(join(root, ".build", "examples-"));
});

after(() => rmSync(folder, { recursive: true, force: true }));

for (const file of examples) {
  test(`${file} prints what it says`, { skip }, () => {
    const expected = saidOutput(readText(file));
    assert(expected.length > 0, "each console.log has a comment with what it prints");
    const program = join(folder, basename(file).replace(/ts$/, extension));
    writeFileSync(program, mapped(readFileSync(join(top, file.replace(/ts$/, extension)), "utf8")));
    const args = runtimeName === "deno" ? ["run", "-A", "--no-check", program] : [program];
    const { stdout, stderr, status } = spawnSync(process.execPath, args, { encoding: "utf8", timeout: 60_000 });
    assertEquals([status, stdout.trimEnd().split("\n")], [0, expected], stderr);
  });
}

test("every example for an MCP client starts the server as the README says, or finds it where serve puts it", () => {
  const configs = listFiles("examples/mcp", "").map((file) => [basename(file), launched(file)] as const);
  assertEquals(configs.length, 6);
  for (const [name, words] of configs) {
    const expected = name.endsWith("_http.json") ? ["http://127.0.0.1:7333/mcp"] : ["npx", "-y", "offstage", "mcp"];
    assertEquals(words, expected, name);
  }
});

test("the list of examples names each of them, and what is not there it does not name", () => {
  const named = [...readText("examples/README.md").matchAll(/\]\(([^)]+)\)/g)].map(([, path]) => `examples/${path}`);
  assertEquals(named.filter((path) => !exists(path)), []);
  assertEquals(named.toSorted(), [...examples, ...listFiles("examples/mcp", "")].toSorted());
});

/** The program with its imports of the package turned to the sources. */
function mapped(code: string): string {
  return code.replace(/(?<=from ")offstage(\/\w+)?(?=")/g, (name, entry = "") => {
    const source = exports[`.${entry}`];
    assert(source !== undefined, `there is no entry point ${name}`);
    return relative(folder, join(top, source)).replaceAll("\\", "/").replace(/ts$/, extension);
  });
}

/** What a client runs, word by word, or the address it calls. */
function launched(file: string): readonly unknown[] {
  const text = readText(file);
  const config = file.endsWith(".toml") ? fromToml(text) : onlyServer(JSON.parse(text));
  const { command, args = [], url } = config;
  return url === undefined ? [command, args].flat() : [url];
}

interface Config {
  readonly command?: unknown;
  readonly args?: unknown;
  readonly url?: unknown;
}

/** The one server of `{ …: { offstage: … } }`. */
function onlyServer(config: Readonly<Record<string, Readonly<Record<string, Config>>>>): Config {
  return Object.values(config)[0]?.["offstage"] ?? {};
}

/** One table of values that JSON writes in the same way. */
function fromToml(text: string): Config {
  const [header, ...lines] = text.trimEnd().split("\n");
  assertEquals(header, "[mcp_servers.offstage]");
  return Object.fromEntries(
    lines.map((line) => line.split(" = ")).map(([key, value = ""]) => [key, JSON.parse(value)]),
  );
}
