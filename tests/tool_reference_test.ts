/**
 * The skill's reference of both tools is made of what a model is told of them, and says only what is so.
 *
 * To make it again: `UPDATE_REFERENCE=1 node --test tests/tool_reference_test.ts`.
 *
 * @module
 */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { resolveSettings } from "../src/config.ts";
import { checkExec } from "../src/exec/schema.ts";
import { checkProcess } from "../src/process/schema.ts";
import type { JsonSchema, ToolDefinition } from "../src/tools/definition.ts";
import { execDefinition } from "../src/tools/exec.ts";
import { PROCESS } from "../src/tools/process.ts";
import { readText, root } from "./project.ts";

const REFERENCE = "skills/offstage/reference.md";

const { backgroundMs, timeoutSeconds } = resolveSettings({}, {});
const EXEC = execDefinition({ processTool: true, backgroundMs, timeoutSeconds, idle: [] });

test("the skill's reference is what the schemas make of it", () => {
  const intro =
    "# Parameters\n\nUnknown ones are refused, with the nearest name that there is. One in _italics_ works, but " +
    "a model is told of it only\nwhere its host says so.\n";
  const text = [intro, ...[EXEC, PROCESS].map(chapter)].join("\n");
  if (process.env["UPDATE_REFERENCE"] === "1") writeFileSync(join(root, REFERENCE), text);
  assertEquals(readText(REFERENCE).split("\n"), text.split("\n"));
});

test("the skill has the front matter that it is found by", () => {
  const [, name, description = ""] =
    /^---\nname: (.*)\ndescription: (.*)\n---\n/.exec(readText("skills/offstage/SKILL.md")) ?? [];
  assertEquals(name, "offstage");
  assert(description.length > 50 && description.length <= 1024, `${description.length} characters`);
});

test("every call in the skill is one that the tools take", () => {
  const text = readText("skills/offstage/SKILL.md");
  const calls = [...text.matchAll(/`(?:(exec|process|poll|log|screen|kill|send-keys|write) )?(\{[^`]*\})`/g)];
  assert(calls.length >= 8);
  for (const [call, name = "", json = ""] of calls) {
    const input = JSON.parse(json) as object;
    const isExec = name === "exec";
    const action = isExec || name === "process" ? {} : { action: name };
    const session = isExec ? {} : { sessionId: "amber-otter-7k3f" };
    const checked = isExec ? checkExec(input) : checkProcess({ ...session, ...action, ...input });
    assertEquals(checked.ok ? [] : checked.problems, [], call);
  }
  assertMatch(text, /\]\(reference\.md\)/);
});

/** One tool: what is said of it, and its parameters. */
function chapter({ name, description, parameters, seldom, annotations }: ToolDefinition): string {
  const rows = Object.entries(parameters.properties).map(([key, schema]) => [
    seldom.includes(key) ? `_${key}_` : `\`${key}\``,
    kindOf(schema),
    `${parameters.required.includes(key) ? "required" : ""}${schema.description ?? ""}`.replaceAll(/[|<]/g, "\\$&"),
  ]);
  const hints = Object.entries(annotations).filter(([, is]) => is === true).map(([hint]) => `\`${hint}\``).join(", ");
  return [
    `## ${name}\n`,
    `\`\`\`text\n${description}\n\`\`\`\n`,
    `Hints for who approves calls: ${hints}.\n`,
    ...table([["parameter", "is", "meaning"], ...rows]),
    "",
  ].join("\n");
}

/** A type in words; of an object its keys, of an enumeration its words. */
function kindOf({ type, enum: words, items, properties, additionalProperties }: JsonSchema): string {
  if (words !== undefined) return words.map((word) => `\`${word}\``).join(", ");
  if (type === "array") return `list of ${items === undefined ? "anything" : kindOf(items)}`;
  if (properties !== undefined) return `object of ${Object.keys(properties).map((key) => `\`${key}\``).join(", ")}`;
  if (typeof additionalProperties === "object") return `object of any name to ${kindOf(additionalProperties)}`;
  return type === "integer" ? "whole number" : type;
}

/** A table as the formatter writes it. */
function table(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = [0, 1, 2].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const lines = rows.map((row) => `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(" | ")} |`);
  const [head = "", ...rest] = lines;
  return [head, `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`, ...rest];
}
