/**
 * Calls of the two tools through the library, over HTTP and over MCP: whatever comes is answered, what is wrong starts
 * nothing and consumes nothing, and what is right is taken.
 *
 * @module
 */
import { assert, assertEquals } from "@std/assert";
import type { ExecParams, ProcessParams } from "../../mod.ts";
import { execCalls, inputOf, PIPE, processCalls, TERMINAL } from "./calls.ts";
import { type OpenPart, type Part, target } from "./target.ts";
import { execVerdict, processVerdict, type Verdict } from "./verdict.ts";
import { openWorld, type World } from "./world.ts";

/** The part. */
export const parameters: Part = { name: "parameters", runs: 70_000, open };

async function open(): Promise<OpenPart> {
  const world = await openWorld();
  return {
    targets: [
      target("exec", 4, execCalls, async (call) => {
        await world.ready();
        const input = inputOf(call, idsOf(world));
        await judged(world, execVerdict(input), () => world.agent.exec(input as ExecParams));
      }),
      target("process", 6, processCalls, async (call) => {
        await world.ready();
        const input = inputOf(call, idsOf(world));
        await judged(
          world,
          processVerdict(input),
          () => world.agent.process(input as ProcessParams & { action: "poll" }),
        );
      }),
    ],
    [Symbol.asyncDispose]: () => world.offstage.close(),
  };
}

/** What the names of sessions in a call stand for. */
export function idsOf({ pipe, terminal }: World): Readonly<Record<string, string>> {
  return { [PIPE]: pipe.id, [TERMINAL]: terminal.id };
}

/** An answer of a tool, as it comes from anywhere. */
export interface AnyAnswer {
  readonly text: string;
  readonly details: object;
  readonly isError: boolean;
}

/** Makes a call and checks what it says against the verdict, and against what it did. */
export async function judged(world: World, verdict: Verdict, call: () => Promise<AnyAnswer>): Promise<void> {
  const { agent, pipe } = world;
  const unread = "unread\n";
  pipe.child.print(unread);
  const before = world.footprint();
  const answer = await call();
  assertAnswer(answer);
  const { reason } = answer.details as { readonly reason?: unknown };
  const isRefused = answer.isError && reason === "invalid";
  if (verdict !== "unclear") assertEquals(isRefused ? "invalid" : "valid", verdict, answer.text.slice(0, 500));
  if (!isRefused) return;
  assertEquals(world.footprint(), before, "a call that was refused has done something");
  const { details } = await agent.process({ action: "poll", sessionId: pipe.id });
  // Not its text: what was typed as a secret before is not shown
  assert(
    "from" in details && details.to - details.from >= unread.length,
    "a call that was refused has consumed output",
  );
}

/** Longest text of an answer: the setting `maxResultChars`, and what is said of a session beside its output. */
const MOST_CHARS = 32_000;

/** The one shape of an answer. */
export function assertAnswer({ text, details, isError }: AnyAnswer): void {
  assert(typeof text === "string" && text !== "", "an answer has a text");
  assert([...text].length <= MOST_CHARS, `an answer of ${text.length} characters`);
  assertEquals(typeof isError, "boolean");
  assert(JSON.stringify(details).length <= 20 * MOST_CHARS, "details of an answer are bounded too");
  if (!isError) return;
  const { status, reason, message, problems } = details as {
    readonly status?: unknown;
    readonly reason?: unknown;
    readonly message?: unknown;
    readonly problems?: readonly { readonly key: unknown; readonly message: unknown }[];
  };
  assertEquals(status, "failed");
  assert(typeof reason === "string" && typeof message === "string", text);
  if (reason === "invalid") assertProblems(problems);
}

/** What is wrong with a call, key by key. */
export function assertProblems(
  problems: readonly { readonly key: unknown; readonly message: unknown }[] | undefined,
): void {
  assert(problems !== undefined && problems.length > 0, "what is invalid has problems");
  for (const { key, message } of problems) {
    assert(typeof key === "string" && typeof message === "string" && message !== "", `${String(key)}: ${message}`);
    assert(!/\[object|received undefined/.test(message), message);
  }
}
