/**
 * What the documentation says is so: its tables name what there is, and its examples compile, run and print what they
 * say they print.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { after, before, test } from "node:test";
import { type ExecConfig, KEY_NAMES } from "../mod.ts";
import { resolveSettings } from "../src/config.ts";
import { checkProcess, PROCESS_ACTIONS } from "../src/process/schema.ts";
import { execDefinition } from "../src/tools/exec.ts";
import { PROCESS } from "../src/tools/process.ts";
import { listFiles, readJson, readText, root } from "./project.ts";
import { saidOutput } from "./said_output.ts";
import { skipUnless } from "./skip.ts";

const readme = readText("README.md");

/* The tables */

test("the README's table of exec names every parameter of the schema and of ExecParams, in order", () => {
  const documented = readTable("parameter").flatMap(([names]) => codes(names));
  assertEquals(documented, schemaKeys("src/exec/schema.ts"));
  assertEquals(documented, interfaceKeys("src/exec/schema.ts", "ExecParams"));
});

test("the README's table of process names every action with exactly the parameters it takes, in order", () => {
  const keys = schemaKeys("src/process/schema.ts").filter((key) => key !== "action" && key !== "sessionId");
  assertEquals(
    keys,
    interfaceKeys("src/process/schema.ts", "ProcessParams").filter((key) => !/^(?:action|sess)/.test(key)),
  );
  const taken = PROCESS_ACTIONS.map((action) => [action, ...keys.filter((key) => isTaken(action, key))]);
  const documented = readTable("action").map(([action, names]) => [...codes(action), ...codes(names)]);
  assertEquals(documented, taken);
});

test("the README names the parameters that a model is not told of unless asked for", () => {
  const [, list = ""] = /unless `tools\(\{ allParameters: true \}\)`: ([^]+?)\. `tools/.exec(readme) ?? [];
  const { seldom } = execDefinition({ processTool: true, backgroundMs: 1, timeoutSeconds: 1, idle: [] });
  assertEquals(codes(list), [...seldom, "exec", ...PROCESS.seldom, "process"]);
});

test("the README's table of settings names exactly the keys of ExecConfig, each with its default", () => {
  const defaults: Readonly<Record<string, unknown>> = { ...resolveSettings({}, {}) };
  const rows = readTable("key");
  const documented = rows.flatMap(([names]) => codes(names));
  assertEquals(documented.toSorted(), [...Object.keys(defaults), "timeoutSec"].toSorted());
  assertEquals(documented.toSorted(), interfaceKeys("src/config.ts", "ExecConfig").toSorted());
  for (const [names, , fallback] of rows) {
    const [key = ""] = codes(names);
    const [value] = codes(fallback);
    assertEquals(value === undefined ? undefined : JSON.parse(value), defaults[key], key);
  }
});

test("the README's table of settings tells the range and the environment variable of each", () => {
  for (const [names, environment, fallback, range] of readTable("key")) {
    const [key = ""] = codes(names);
    const inForce = (config: ExecConfig, variables: Readonly<Record<string, string>> = {}): unknown =>
      resolveSettings(config, variables)[key as keyof ReturnType<typeof resolveSettings>];
    const limits = /^(\d+)…(\d*)$/.exec(range ?? "");
    assertEquals(limits !== null, /^`\d+`$/.test(fallback ?? ""), key);
    if (limits === null) continue;
    const [, least, most] = limits;
    assertEquals(inForce({ [key]: -1 }), Number(least), key);
    assertEquals(inForce({ [key]: Number.MAX_SAFE_INTEGER }), Number(most || Number.MAX_SAFE_INTEGER), key);
    for (const variable of codes(environment)) {
      const other = String(Number(least) + 1);
      assertEquals(inForce({}, { [variable]: other }), Number(other), variable);
    }
  }
});

test("the README's settings know every environment variable there is, but for older names", () => {
  const documented = readTable("key").flatMap(([, environment]) => codes(environment)).toSorted();
  const known = readText("src/config.ts").match(/(?<=")OPENCLAW_\w+(?=")/g) ?? [];
  assertEquals(documented, [...known].toSorted());
});

test("the README's list of keys is of keys there are", () => {
  const [, list = ""] = /^Keys, in any case: ([^]+?) and the names tmux/m.exec(readme) ?? [];
  const names = codes(list).flatMap((code) => code.split(" "));
  assert(names.length > 20);
  assertEquals(names.filter((name) => !KEY_NAMES.includes(name)), []);
});

test("the README's table of runtimes names entry points there are", () => {
  const { exports } = readJson("package.json") as { readonly exports: Readonly<Record<string, unknown>> };
  const points = readTable("runtime").flatMap(([, point]) => codes(point));
  assert(points.length >= 4);
  assertEquals(points.filter((point) => !(point.replace("offstage", ".") in exports)), []);
});

/* The examples */

/** A TypeScript example of the documentation. */
interface Example {
  /** File and line it begins at. */
  readonly place: string;
  readonly file: string;
  readonly code: string;
}

const ENTRIES: Readonly<Record<string, string>> = (readJson("deno.json") as {
  readonly exports: Readonly<Record<string, string>>;
}).exports;

const DENO = [join(root, "node_modules", ".bin", "deno"), "run", "-A"];
const BUN = [join(root, "node_modules", ".bin", "bun")];
const NODE = [process.execPath];

/** Where examples become programs; imports of the package's dependencies are found from there. */
const FOLDER = ".build/examples";

const sources = ["mod.ts", "tools.ts", ...listFiles("src", ".ts"), ...listFiles("adapters", ".ts")];
const examples: readonly Example[] = ["README.md", ...sources].flatMap(examplesOf);

/** Only the compiled tests, so that each example is tried once: this starts the other runtimes itself. */
const skip = skipUnless(import.meta.url.includes("/.build/"), "examples are tried once, by the Node that compiles");

before(() => {
  if (skip === false) compileExamples();
});

after(() => {
  if (skip === false) rmSync(join(root, FOLDER), { recursive: true, force: true });
});

test("there are examples in the README and beside each createOffstage", () => {
  const files = new Set(examples.map(({ file }) => file));
  const wanted = [
    "README.md",
    "src/offstage.ts",
    ...["auto", "bun", "deno", "node"].map((name) => `adapters/${name}.ts`),
  ];
  assertEquals(wanted.filter((file) => !files.has(file)), []);
});

for (const [index, example] of examples.entries()) {
  // The contract of spawners has tests of its own, and takes long
  if (example.code.includes("node:test")) continue;
  for (const [program = "", ...args] of runtimesOf(example)) {
    test(`the example at ${example.place} does what it says on ${program.split("/").at(-1)}`, { skip }, () => {
      const file = join(root, FOLDER, "out", FOLDER, `${index}.js`);
      const { stdout, stderr, status } = spawnSync(program, [...args, file], { encoding: "utf8", timeout: 60_000 });
      assertEquals(status, 0, stderr);
      const expected = saidOutput(example.code);
      if (expected.length > 0) assertEquals(stdout.trimEnd().split("\n"), expected);
    });
  }
}

/** Type-checks all examples together with the sources, and compiles them for the oldest Node. */
function compileExamples(): void {
  rmSync(join(root, FOLDER), { recursive: true, force: true });
  mkdirSync(join(root, FOLDER), { recursive: true });
  for (const [index, example] of examples.entries()) {
    writeFileSync(join(root, FOLDER, `${index}.ts`), programOf(example));
  }
  const up = FOLDER.replace(/[^/]+/g, "..");
  const config = {
    extends: `${up}/tsconfig.json`,
    compilerOptions: {
      rootDir: up,
      outDir: "out",
      declaration: false,
      isolatedDeclarations: false,
      sourceMap: false,
      inlineSources: false,
      noUnusedLocals: false,
    },
    include: ["*.ts"],
  };
  writeFileSync(join(root, FOLDER, "tsconfig.json"), JSON.stringify(config));
  const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
  const { stdout, status } = spawnSync(process.execPath, [tsc, "-p", FOLDER], { cwd: root, encoding: "utf8" });
  const places = stdout.replace(/(\d+)\.ts(?=\()/g, (name, index) => examples[Number(index)]?.place ?? name);
  assertEquals(status, 0, places);
}

/** The example with imports of the package turned to its sources; one that imports nothing of its own file gets it all. */
function programOf({ file, code }: Example): string {
  const up = FOLDER.replace(/[^/]+/g, "..");
  const mapped = code.replace(/(?<=from ")offstage(\/\w+)?(?=")/g, (_, name = "") => {
    const path = ENTRIES[`.${name}`] ?? `./no entry point offstage${name}`;
    return `${up}/${path.slice(2)}`;
  });
  const names = [...readText(file).matchAll(/^export (?:function|const|class) (\w+)/gm)].map(([, name]) => name ?? "");
  const used = names.filter((name) => new RegExp(`\\b${name}\\b`).test(code));
  const isImported = /from "offstage/.test(code) || file.endsWith(".md") || used.length === 0;
  return `${isImported ? "" : `import { ${used.join(", ")} } from "${up}/${file}";\n`}${mapped}\nexport {};\n`;
}

/** What to run an example with: the runtimes that its entry point is for. */
function runtimesOf({ code }: Example): readonly (readonly string[])[] {
  if (code.includes('"offstage/deno"')) return [DENO];
  if (code.includes('"offstage/bun"')) return [BUN];
  if (code.includes('"offstage/auto"')) return [NODE, DENO, BUN];
  return [NODE];
}

/** The `ts` blocks of a file; of a source, those in its comments. */
function examplesOf(file: string): readonly Example[] {
  const text = readText(file);
  return [...text.matchAll(/^( \* | {3}\* |)```ts\n([\s\S]*?)^\1```$/gm)].map((match) => {
    const [, margin = "", block = ""] = match;
    const line = text.slice(0, match.index).split("\n").length;
    const code = block.split("\n").map((each) => each.slice(margin.length)).join("\n");
    return { place: `${file}:${line}`, file, code };
  });
}

/** Rows of the README's table whose first heading is this; a row is its cells. */
function readTable(heading: string): readonly (readonly string[])[] {
  const lines = readme.split("\n");
  const start = lines.findIndex((line) => new RegExp(`^\\| ${heading} +\\|`).test(line));
  assert(start >= 0, `the README has no table of ${heading}`);
  const rest = lines.slice(start + 2);
  const rows = rest.slice(0, rest.findIndex((line) => !line.startsWith("|")));
  return rows.map((row) => row.split("|").slice(1, -1).map((cell) => cell.trim()));
}

/** What stands in backticks. */
function codes(cell = ""): readonly string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, code]) => code ?? "");
}

/** Keys of the schema in a file. */
function schemaKeys(file: string): readonly string[] {
  const [, body = ""] = /^const entries = \{\n([\s\S]*?)^\};$/m.exec(readText(file)) ?? [];
  return [...body.matchAll(/^ {2}(\w+):/gm)].map(([, key]) => key ?? "");
}

/** Keys of an interface in a file. */
function interfaceKeys(file: string, name: string): readonly string[] {
  const [, body = ""] = new RegExp(`^export interface ${name} \\{\\n([\\s\\S]*?)^\\}$`, "m").exec(readText(file)) ?? [];
  return [...body.matchAll(/^ {2}readonly (\w+)\??:/gm)].map(([, key]) => key ?? "");
}

/** Whether an action has a use for a key. */
function isTaken(action: string, key: string): boolean {
  const checked = checkProcess({ action, sessionId: "amber-otter-7k3f", [key]: "" });
  return checked.ok ||
    !checked.problems.some((problem) => problem.key === key && problem.message.startsWith("not used"));
}
