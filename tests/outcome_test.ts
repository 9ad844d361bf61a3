/**
 * What an end means, by wait status and cause (spec E26, E27).
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { test } from "node:test";
import type { Exit } from "../src/runtime.ts";
import { outcomeOf, type StopCause } from "../src/session/outcome.ts";

test("E26 E27 the wait status wins, unless the command was cut short or its host was lost", () => {
  const term: Exit = { signal: "SIGTERM" };
  const cases: readonly (readonly [Exit, StopCause | undefined, string, boolean, string])[] = [
    [{ code: 0 }, undefined, "completed", true, "exit"],
    [{ code: 4 }, undefined, "completed", false, "exit"],
    [{ code: null }, undefined, "completed", false, "exit"],
    [term, undefined, "failed", false, "signal"],
    [{ code: 0 }, "killed", "completed", true, "exit"],
    [{ code: 4 }, "killed", "completed", false, "exit"],
    [{ code: 0 }, "idle", "completed", true, "exit"],
    [{ code: null }, "killed", "killed", false, "killed"],
    [term, "killed", "killed", false, "killed"],
    [term, "idle", "killed", false, "killed"],
    [{ code: 0 }, "limit", "killed", false, "killed"],
    ...(["timeout", "aborted", "shutdown"] as const).flatMap((cause) =>
      [{ code: 0 }, { code: 4 }, term].map((exit) => [exit, cause, "failed", false, cause] as const)
    ),
    [{ lost: "the link is down" }, undefined, "failed", false, "host-lost"],
    [{ lost: "the link is down" }, "killed", "failed", false, "host-lost"],
  ];
  for (const [exit, cause, ...expected] of cases) {
    const { status, ok, reason, exitCode, signal, limit } = outcomeOf(exit, cause);
    assertEquals([status, ok, reason], expected, `${JSON.stringify(exit)} ${cause}`);
    assertEquals([exitCode, signal, limit], [exit.code ?? null, exit.signal ?? null, null]);
  }
});
