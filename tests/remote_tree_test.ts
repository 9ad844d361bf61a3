/**
 * Whose processes of another machine are a command's.
 *
 * @module
 */
import { test } from "node:test";
import { assertEquals } from "@std/assert";
import { readLook, type Started, treeOf } from "../adapters/hosts/remote/tree.ts";

const stat = (pid: number, name: string, state: string, parent: number, group: number, start = pid): string =>
  `${pid} (${name}) ${state} ${parent} ${group} ${group} 0 -1 4194304 95 0 0 0 0 0 0 0 20 0 1 0 ${start} 2654208 382`;

/** A script (10, 11) around a command (12) on pipes, which has a group of its own, with a child in it and one outside. */
const TABLE = [
  stat(1, "init", "S", 0, 1),
  stat(10, "sh", "S", 9, 10),
  stat(11, "sh", "S", 10, 10),
  stat(12, "bash", "S", 11, 12),
  stat(13, "a (b) c\nd", "S", 12, 12),
  stat(14, "sleep", "S", 12, 14),
  stat(15, "orphan", "S", 1, 15),
  stat(16, "zombie", "Z", 12, 12),
  stat(20, "stranger", "S", 1, 20),
];
const OWN: Started = { pid: 12, group: 12, sessionId: "s", ownsGroup: true };
const names = (lines: readonly string[], started = OWN, leader = "any", strays = [] as never[]): readonly string[] =>
  treeOf(readLook(lines), started, leader, strays).map(({ name }) => name);

test("E34 the tree is the group, its descendants, and whoever carries the session's id", () => {
  const lines = [...TABLE.join("\n").split("\n"), "", "/proc/15/environ"];
  assertEquals(names(lines), ["bash", "a (b) c\nd", "orphan", "sleep"]);
  assertEquals(names([...TABLE, ""]), ["bash", "a (b) c\nd", "sleep"]);
});

test("the script around a command in a terminal is not part of its tree", () => {
  const table = [stat(10, "sh", "S", 9, 10), stat(11, "sh", "S", 10, 10), stat(12, "vi", "S", 11, 10), ""];
  const inTerminal = { ...OWN, group: 10, ownsGroup: false };
  assertEquals(names(table, inTerminal), ["vi"]);
});

test("after the end a group with another leader is a stranger's", () => {
  assertEquals(names([stat(12, "new", "S", 1, 12), stat(30, "other", "S", 12, 12), ""], OWN, "none"), []);
  assertEquals(names([stat(13, "left", "S", 1, 12), ""], OWN, "none"), ["left"]);
});

test("E34 who was seen outside the group is known later, under its own start time only", () => {
  const seen = treeOf(readLook([...TABLE, ""]), OWN, "any", []).filter(({ pid }) => pid === 14);
  const later = (line: string): readonly string[] =>
    treeOf(readLook([line, ""]), OWN, "none", seen).map(({ name }) => name);
  assertEquals(later(stat(14, "sleep", "S", 1, 14)), ["sleep"]);
  assertEquals(later(stat(14, "other", "S", 1, 14, 99)), []);
});
