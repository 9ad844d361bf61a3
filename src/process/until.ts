/**
 * What a poll may wait for instead of any output (spec P12).
 *
 * @module
 */
import { createCursor } from "../output/cursor.ts";
import type { Runtime } from "../runtime.ts";
import { HANDED_OVER_MS, inputWait } from "../session/input_wait.ts";
import type { Session } from "../session/session.ts";
import { pause } from "../session/timing.ts";
import { waitFor } from "../session/wait.ts";
import { seconds } from "../session/spans.ts";
import { compilePattern, patternTrouble } from "../pattern.ts";

/** `until` as a caller may write it; a pattern that reads like one of the words is given as an object. */
export type Until = string | { readonly pattern: string };

/** What `until` asks for. */
export type Condition =
  | { readonly kind: "exit" }
  | { readonly kind: "input" }
  | { readonly kind: "idle"; readonly ms: number }
  | { readonly kind: "port"; readonly port: number }
  | { readonly kind: "match"; readonly pattern: RegExp };

/**
 * What ended a wait: new output, the session's end, the time, or what `until` asked for; of a screen also a `change` of
 * what is on it. `timeout` is also what a poll that was not to wait says when there is nothing new.
 */
export type WokenBy = "output" | "exit" | "timeout" | "idle" | "input" | "port" | "match" | "change" | "stable";

/** Longest wait, ms: common hosts cut a tool call that takes longer (spec P11). */
export const LONGEST_WAIT_MS = 30_000;

/** Wait for `until` if no `timeout` is given, ms: somebody who names a condition means to wait. */
const UNTIL_WAIT_MS = 10_000;

/** How long nothing may have changed on a stable screen, ms: programs pause for less while they draw. */
const STABLE_MS = 500;

/** How much of a pattern is repeated in an answer, UTF-16 units. */
const SHOWN_CHARS = 100;

/** How often the platform is asked where it does not tell by itself (input, ports), ms. */
const ASK_EVERY_MS = 100;

/** How often a program that reads is looked at for not having run between two looks. */
const MOST_LOOKS = 5;

/** How much of a line that grows and grows is tried again when there is more of it, UTF-16 units. */
const RETRIED_CHARS = 10_000;

/** Reads `until`: `exit`, `input`, `idle:<ms>`, `port:<n>`, or else a regular expression. */
export function parseCondition(until: Until): Condition {
  if (typeof until !== "string") return { kind: "match", pattern: compilePattern(until.pattern) };
  if (until === "exit" || until === "input") return { kind: until };
  const [, kind, digits] = /^(idle|port):(\d+)$/.exec(until) ?? [];
  if (kind === "idle") return { kind, ms: Number(digits) };
  if (kind === "port") return { kind, port: Number(digits) };
  return { kind: "match", pattern: compilePattern(until) };
}

/** How long a call waits, ms. */
export function waitMs({ timeout, until }: { readonly timeout?: number; readonly until?: Until }): number {
  return Math.min(LONGEST_WAIT_MS, Math.max(0, timeout ?? (until === undefined ? 0 : UNTIL_WAIT_MS)));
}

/** What came of waiting for `until`, where the rest of the answer does not tell it. */
export function waitSentence(until: Until, wokenBy: WokenBy, timeoutMs: number): string | undefined {
  const text = typeof until === "string" ? until : until.pattern;
  const shown = JSON.stringify(text.length <= SHOWN_CHARS ? text : `${text.slice(0, SHOWN_CHARS)}…`);
  switch (wokenBy) {
    case "port":
      return `${text.replace(":", " ")} accepts connections`;
    case "idle":
      return `silent for ${seconds(Number(text.slice("idle:".length)))}`;
    case "match":
      return `${shown} has matched`;
    case "timeout":
      return `waited ${seconds(timeoutMs)} in vain for ${shown}`;
    case "exit":
      return until === "exit" ? undefined : `it ended while this waited for ${shown}`;
    default:
      return undefined;
  }
}

/** What an `until` may be, for one who has written something else. */
export const CONDITION_FORMS = 'expected "exit", "input", "idle:<ms>", "port:<1…65535>" or a regular expression';

/** What is wrong with an `until`; `undefined` if nothing is. */
export function conditionTrouble(text: string): string | undefined {
  if (/^(idle|port):/.test(text)) {
    const port = /^port:(\d+)$/.exec(text);
    const fine = port === null ? /^idle:\d{1,9}$/.test(text) : Number(port[1]) >= 1 && Number(port[1]) <= 65_535;
    return fine ? undefined : CONDITION_FORMS;
  }
  const trouble = patternTrouble(text);
  return trouble === undefined ? undefined : `${trouble}; ${CONDITION_FORMS}`;
}

/** Whether a text can be an `until`. */
export function isCondition(text: string): boolean {
  return conditionTrouble(text) === undefined;
}

/** How long nothing on a screen may change, ms; `undefined` if that is not what is asked for. */
export function stableMs(until: Until): number | undefined {
  const [match, digits] = typeof until === "string" ? /^stable(?::(\d{1,5}))?$/.exec(until) ?? [] : [];
  return match === undefined ? undefined : digits === undefined ? STABLE_MS : Number(digits);
}

/** What waiting for a condition needs. */
export interface UntilContext {
  /** For ports. */
  readonly runtime: Runtime;
  /** Silence that counts as waiting for input where the platform cannot tell, ms. */
  readonly inputWaitIdleMs: number;
  /** Longest wait, ms. */
  readonly timeoutMs: number;
  /** Ends the wait with a rejection. */
  readonly signal: AbortSignal | undefined;
}

/**
 * Waits for a condition, the end of the session or the time.
 *
 * @param from byte offset from which output may match
 */
export async function waitUntil(
  session: Session,
  condition: Condition,
  from: number,
  context: UntilContext,
): Promise<WokenBy> {
  const { clock } = session;
  const { timeoutMs, signal } = context;
  const deadline = clock.monotonic() + timeoutMs;
  const hasEnded = (): boolean => session.state.kind === "ended";
  const wait = (met: () => boolean, ms: number): Promise<"met" | "timeout"> =>
    waitFor(session, met, { timeoutMs: Math.min(ms, deadline - clock.monotonic()), signal });

  if (condition.kind === "exit") return await wait(hasEnded, Infinity) === "met" ? "exit" : "timeout";
  if (condition.kind === "match") {
    const matches = matcher(session, condition.pattern, from);
    if (await wait(() => matches() || hasEnded(), Infinity) === "timeout") return "timeout";
    return matches() ? "match" : "exit";
  }
  for (let restless = 0;;) {
    let pauseMs = await untilNextLook(session, condition, context);
    if (pauseMs <= 0) {
      const { seenAsleep } = session;
      const heardMs = condition.kind === "input" ? untilHeard(session) : 0;
      await pause(clock, Math.max(0, Math.min(heardMs, deadline - clock.monotonic())), signal);
      pauseMs = await untilNextLook(session, condition, context);
      // It has run meanwhile and may have printed more; one that never comes to rest is taken as it is
      if (pauseMs <= 0 && session.seenAsleep !== seenAsleep && ++restless <= MOST_LOOKS) continue;
    }
    if (pauseMs <= 0) return condition.kind;
    if (hasEnded()) return "exit";
    if (clock.monotonic() >= deadline) return "timeout";
    await wait(hasEnded, pauseMs);
  }
}

/**
 * How long what a program printed before it fell asleep may still be on its way to us, ms: it belongs to the answer
 * (spec R8). A pipe has it at once, and it is read between two turns.
 */
function untilHeard({ clock, facts, seenAsleep }: Session): number {
  if (!facts.pty) return 0;
  return Math.max(0, (seenAsleep?.at ?? clock.monotonic()) + HANDED_OVER_MS - clock.monotonic());
}

/** 0 if the condition holds, else the time until it is worth another look, ms. */
async function untilNextLook(
  session: Session,
  condition: Exclude<Condition, { readonly kind: "exit" | "match" }>,
  { runtime, inputWaitIdleMs }: UntilContext,
): Promise<number> {
  switch (condition.kind) {
    case "idle":
      return condition.ms - (session.clock.monotonic() - session.lastOutputAt);
    case "input": {
      const { waiting, againMs = ASK_EVERY_MS } = await inputWait(session, inputWaitIdleMs);
      return waiting ? 0 : againMs;
    }
    case "port":
      return (await runtime.portOpen(condition.port)) ? 0 : ASK_EVERY_MS;
  }
}

/** Says whether rendered output since `from` has matched; each line is tried as it grows, finished ones once. */
function matcher(session: Session, pattern: RegExp, from: number): () => boolean {
  const peek = createCursor(session.log, from);
  const resumable = new RegExp(pattern.source, `${pattern.flags}g`);
  let line = "";
  let matched = false;
  return () => {
    if (!matched && peek.pending > 0) {
      const isCut = line.length > RETRIED_CHARS;
      const text = line + peek.read(Infinity).text;
      resumable.lastIndex = isCut ? 1 : 0; // what stands before it says that no line begins there
      matched = resumable.test(text);
      line = text.slice(Math.max(text.lastIndexOf("\n") + 1, text.length - RETRIED_CHARS - 1));
    }
    return matched;
  };
}
