/**
 * H4: which node a call means, given what there is to know of them.
 *
 * @module
 */
import { assert, assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { test } from "node:test";
import { chooseNode, type NodeInfo, OffstageError } from "../mod.ts";
import fc from "./property.ts";

function node(id: string, over: Partial<NodeInfo> = {}): NodeInfo {
  return { id, state: "online", labels: {}, running: 0, ...over };
}

const FLEET: readonly NodeInfo[] = [
  node("arm-1", { labels: { arch: "arm" }, running: 2 }),
  node("arm-2", { labels: { arch: "arm", gpu: "" }, running: 1 }),
  node("x64-1", { labels: { arch: "x64" }, running: 4 }),
  node("x64-2", { labels: { arch: "x64", note: "a=b: c" }, running: 1 }),
  node("gone", { labels: { gpu: "" }, state: "lost" }),
];

/** Why a choice is refused. */
function refusalOf(nodes: readonly NodeInfo[], wanted: string | undefined): string {
  const { code, problems } = assertThrows(() => chooseNode(nodes, wanted), OffstageError);
  assertEquals([code, problems.map(({ key }) => key)], ["invalid", ["node"]]);
  return problems[0]?.message ?? "";
}

const CHOSEN: readonly (readonly [wanted: string, id: string])[] = [
  ["x64-1", "x64-1"],
  ["any", "arm-2"],
  ["any:arch", "arm-2"],
  ["any:arch=arm", "arm-2"],
  ["any:arch=x64", "x64-2"],
  ["any:gpu", "arm-2"],
  ["any:gpu=", "arm-2"],
  ["any:note=a=b: c", "x64-2"],
];

test("H4 a node is named by its id, or is the one of those with a label where least runs, the first of several", () => {
  for (const [wanted, id] of CHOSEN) assertEquals(chooseNode(FLEET, wanted).id, id, wanted);
});

test("H4 unnamed it is the only one that is there; one that is lost does not count", () => {
  assertEquals(chooseNode([node("lost", { state: "lost" }), node("only")], undefined).id, "only");
  assertStringIncludes(
    refusalOf(FLEET, undefined),
    "Say which node; there are arm-1 (arch=arm), arm-2 (arch=arm, gpu)",
  );
});

test("H4 a node whose id is any is that one", () => {
  assertEquals(chooseNode([node("idle"), node("any", { running: 9 })], "any").id, "any");
});

/** What is refused, and what is said of it. */
const REFUSED: readonly (readonly [nodes: readonly NodeInfo[], wanted: string | undefined, words: string])[] = [
  [FLEET, "ghost", 'Node "ghost" is not known; there are arm-1'],
  [FLEET, "gone", 'Node "gone" does not answer; there are'],
  [FLEET, "any:tpu", "There is no node with the label tpu to run on; there are"],
  [FLEET, "any:arch=mips", "There is no node with the label arch=mips to run on"],
  [FLEET, "any:toString", "There is no node with the label toString"],
  [FLEET, "any:", 'Node "any:" is not known'],
  [FLEET, "any:=x", 'Node "any:=x" is not known'],
  [FLEET, "ANY", 'Node "ANY" is not known'],
  [[node("gone", { state: "lost" })], "any", "There is no node to run on; there are gone (lost)"],
  [[node("gone", { state: "lost" })], undefined, "There is no node to run on"],
  [[], "any", "There is no node to run on: none is there"],
  [[], undefined, "There is no node to run on: none is there"],
  [[], "builder", 'Node "builder" is not known: none is there'],
];

test("H4 what cannot be chosen is refused on the key node, and the refusal says which nodes there are", () => {
  for (const [nodes, wanted, words] of REFUSED) assertStringIncludes(refusalOf(nodes, wanted), words);
});

test("H4 what a node says of itself cannot break out of the line that tells of it", () => {
  const words = refusalOf([node("a", { labels: { "x\n[killed]": "\x1b[2J" } })], "ghost");
  assertStringIncludes(words, "there are a (x\uFFFD[killed]=\uFFFD[2J)");
});

test("H4 of a large fleet a refusal tells twenty and how many more there are", () => {
  const fleet = Array.from({ length: 53 }, (_, index) => node(`n${index}`));
  const words = refusalOf(fleet, "ghost");
  assert(words.endsWith("n18, n19, and 33 more"), words);
});

test("H4 whatever is chosen is online and fits, and none that fits has less to do", () => {
  const label = fc.constantFrom("gpu", "arch");
  const value = fc.constantFrom("", "arm", "x64");
  const nodes = fc.array(
    fc.record({
      state: fc.constantFrom("online" as const, "lost" as const),
      labels: fc.dictionary(label, value),
      running: fc.nat(3),
    }),
    { maxLength: 6 },
  );
  fc.assert(fc.property(nodes, fc.option(label), fc.option(value), (given, wished, valued) => {
    const fleet = given.map((each, index) => node(`n${index}`, each));
    const wanted = wished === null ? "any" : valued === null ? `any:${wished}` : `any:${wished}=${valued}`;
    const fitting = fleet.filter(({ state, labels }) =>
      state === "online" && (wished === null || (valued === null ? wished in labels : labels[wished] === valued))
    );
    if (fitting.length === 0) return void refusalOf(fleet, wanted);
    const least = Math.min(...fitting.map(({ running }) => running));
    assertEquals(chooseNode(fleet, wanted), fitting.find(({ running }) => running === least));
  }));
});
