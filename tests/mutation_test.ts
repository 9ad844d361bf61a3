/**
 * The mutation check breaks what it says it breaks and nothing else, and its list of survivors is about the code as it is.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import { test } from "node:test";
import type { Mutant, Mutated } from "./mutation/mutants.ts";
import { keyOf, listedSurvivors } from "./mutation/survivors.ts";
import { exists, readText } from "./project.ts";
import { runtimeName, skipUnless } from "./skip.ts";

const skip = skipUnless(runtimeName === "node", "TypeScript's parser is started by Node alone");

async function mutated(source: string, file = "src/session/made.ts"): Promise<Mutated> {
  const [{ mutate }, { withTrees }] = await Promise.all([
    import("./mutation/mutants.ts"),
    import("./mutation/parse.ts"),
  ]);
  return withTrees(new Map([[file, source]]), (trees) => {
    const tree = trees.get(file);
    assert(tree !== undefined);
    return mutate(file, tree);
  });
}

async function changes(source: string, file?: string): Promise<readonly string[]> {
  return (await mutated(source, file)).mutants.map(({ change }) => change);
}

test("a place is broken in each way that its operator, literal or statement can be", { skip }, async () => {
  const cases: Readonly<Record<string, readonly string[]>> = {
    "x = a && b;": ["a && b → a || b", "x = a && b; → (dropped)"],
    "const x = a <= b;": ["a <= b → a < b"],
    "const x = a === b;": ["a === b → a !== b"],
    "const x = a ?? b;": ["a ?? b → a", "a ?? b → b"],
    "const x = !a;": ["!a → a"],
    "const x = -a + 2;": ["2 → 2 + 1", "2 → 2 - 1", "-a + 2 → -a - 2"],
    "const x = [true, 0];": ["true → false", "0 → 0 + 1", "[true, 0] → []"],
    'const x = { kind: "ended" };': ['"ended" → ""'],
    "x ??= a;": ["x ??= a → x = a", "x ??= a; → (dropped)"],
    "i++;": ["i++ → i--", "i++; → (dropped)"],
    "if (a) f();": ["a → !(a)", "f(); → (dropped)"],
    "if (a === b) throw c;": ["a === b → a !== b", "throw c; → (dropped)"],
    "for (const x of y) { if (!x) continue; }": ["!x → x", "continue; → (dropped)"],
    "const x = a ? b : c;": ["a → !(a)"],
    "const f = () => a;": ["a → undefined"],
    "function f() { return a; }": ["a → undefined"],
    "function f() { a(); b(); }": ["a(); → (dropped)", "b(); → (dropped)", "{ → { return;"],
    "const x = await a();": ["await a() → a()"],
  };
  for (const [source, expected] of Object.entries(cases)) assertEquals(await changes(source), expected, source);
});

test(
  "types, imports, names, sentences, comparisons' strings and what changes nothing are left alone",
  { skip },
  async () => {
    const sources = [
      "// a && b",
      'import { a } from "./a.ts";',
      'const x = import("x");',
      'type A = { readonly kind: "a"; size: 1 };',
      "interface B<T = true> extends C<1> { d: 2 }",
      "const x = a as 1;",
      'const x = "it has ended";',
      "const x = `${a} has ended`;",
      "const x = { 5: a, 'b': c };",
      "switch (a) { case 'b': }",
      "const f = (a: 1): a is 1 => undefined;",
    ];
    for (const source of sources) assertEquals(await changes(source), [], source);
    assertEquals(await changes('const x = "s";', "src/session/wording.ts"), []);
    assertEquals(await changes("const f = async () => await a;"), ["await a → undefined"]);
  },
);

test("the written source is the original until a mutant is active, and then that mutant", { skip }, async () => {
  const { source, mutants } = await mutated(`function f(a, b) {
  const limit = a > 3 ? b : 0;
  let sum = 0;
  for (let i = 0; i < limit; i++) {
    if (i === 1) continue;
    sum += i;
  }
  return sum;
}`);
  const run = (active?: Mutant): unknown =>
    new Function("__isMutated", `${source}; return f(4, 4);`)((id: number) => id === active?.id);
  const named = (change: string): Mutant | undefined => mutants.find((mutant) => mutant.change === change);
  assertEquals(run(), 5);
  assertEquals(run(named("a > 3 → !(a > 3)")), 0);
  assertEquals(run(named("i < limit → i <= limit")), 9);
  assertEquals(run(named("continue; → (dropped)")), 6);
  assertEquals(run(named("sum += i → sum -= i")), -5);
  assertEquals(run(named("sum → undefined")), undefined);
  assertEquals(run(named("{ → { return;")), undefined);
});

test("a mutant says where it is, by what does not move with the lines around it", { skip }, async () => {
  const { mutants } = await mutated("\n\nconst f = {\n  at: (place) => place + one,\n};\n");
  assertEquals(mutants.map(({ row, within, line }) => ({ row, within, line }))[0], {
    row: 4,
    within: "at",
    line: "at: (place) => place + one,",
  });
});

test("every survivor that is listed is of a line that is still there, once, and has a reason", () => {
  const survivors = listedSurvivors();
  const lines = (file: string): readonly string[] => readText(file).split("\n").map((line) => line.trim());
  assertEquals(survivors.filter(({ file, line }) => !exists(file) || !lines(file).includes(line)), []);
  assertEquals(survivors.filter(({ reason }) => !/\w+ \w+/.test(reason)), []);
  assertEquals(new Set(survivors.map(keyOf)).size, survivors.length);
});
