/**
 * What is wrong with the options of an instance, beside `tools.exec`. Asked before anything is made of them: a wrong one
 * would fail only once a command is to run there, or an event to be told.
 *
 * @module
 */
import { listProblems, OffstageError, type Problem } from "../errors.ts";
import type { Spawner } from "../runtime.ts";
import type { NodeDirectory } from "./nodes.ts";
import { isSlip } from "../nearest.ts";
import { describe, readOnce } from "../validate.ts";

interface Rule {
  readonly expected: string;
  isRight(value: unknown): boolean;
}

const callback: Rule = { expected: "a function", isRight: (value) => typeof value === "function" };
const flag: Rule = { expected: "true or false", isRight: (value) => typeof value === "boolean" };
const host: Rule = {
  expected: "a host, such as bubblewrap(…), or a spawner",
  isRight: (value) => typeof value === "function" || isSpawner(value),
};

const RULES: Readonly<Record<string, Rule>> = {
  runtime: { expected: "a runtime", isRight: (value) => hasFunction(value, "environment") },
  tools: { expected: "an object", isRight: isObject },
  sandbox: host,
  nodes: { expected: "an object of hosts by their names, or a directory such as nats(…)", isRight: isObject },
  elevated: {
    expected: "{ enabled, allowed, default? }: true or false, a function, and true or false",
    isRight: (value) => {
      const { enabled, default: byDefault = false } = value as {
        readonly enabled?: unknown;
        readonly default?: unknown;
      };
      return hasFunction(value, "allowed") && flag.isRight(enabled) && flag.isRight(byDefault);
    },
  },
  authorize: callback,
  onEvent: callback,
  requestHeartbeat: callback,
  endOnSignals: flag,
};

/**
 * The options without those that are `null`, which counts as absent.
 *
 * @throws {OffstageError} `invalid`, with every problem. Keys that are not known are somebody else's, but for slips of the
 * pen: with `sandbx` commands would run outside of it
 */
export function checkedOptions<T extends object>(options: T): T {
  const read = readOnce(options, "options");
  if (!read.ok) throw invalid(read.problems);
  const given = Object.entries(read.value).filter(([, value]) => value !== null && value !== undefined);
  const problems = given.flatMap(([key, value]) => {
    const own = Object.hasOwn(RULES, key) ? problemsOf(key, value, RULES[key] as Rule) : slipProblems(key);
    return key === "nodes" && own.length === 0 ? nodeProblems(value) : own;
  });
  if (problems.length > 0) throw invalid(problems);
  return Object.fromEntries(given) as T;
}

function slipProblems(key: string): readonly Problem[] {
  const meant = Object.keys(RULES).find((known) => isSlip(key, known));
  return meant === undefined ? [] : [{ key, message: `unknown; did you mean "${meant}"?` }];
}

function nodeProblems(nodes: unknown): readonly Problem[] {
  if (isDirectory(nodes)) return [];
  const read = readOnce(nodes, "nodes");
  if (!read.ok) return read.problems;
  return Object.entries(read.value).flatMap(([name, node]) => problemsOf(`nodes.${name}`, node, host));
}

/** Whether commands can be started by that. */
export function isSpawner(value: unknown): value is Spawner {
  return hasFunction(value, "spawn") && hasFunction(value, "capabilities");
}

/** Whether nodes are asked for by name, not given as a map. */
export function isDirectory(nodes: unknown): nodes is NodeDirectory {
  return ["choose", "list", "close"].every((name) => hasFunction(nodes, name));
}

function problemsOf(key: string, value: unknown, { expected, isRight }: Rule): readonly Problem[] {
  try {
    return isRight(value) ? [] : [{ key, message: `expected ${expected} but received ${describe(value)}` }];
  } catch {
    return [{ key, message: "cannot be read" }];
  }
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function hasFunction(value: unknown, name: string): boolean {
  try {
    return isObject(value) && typeof (value as Record<string, unknown>)[name] === "function";
  } catch {
    return false;
  }
}

function invalid(problems: readonly Problem[]): OffstageError {
  return new OffstageError("invalid", `Cannot use these options: ${listProblems(problems)}`, { problems });
}
