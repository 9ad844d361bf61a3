/**
 * `maxSessions` (spec R3): what may be ended when a scope has as many background sessions as it may have.
 *
 * @module
 */
import type { Settings } from "../config.ts";
import { OffstageError } from "../errors.ts";
import { inputWait } from "../session/input_wait.ts";
import type { Registry } from "../session/registry.ts";
import type { Session } from "../session/session.ts";
import { unusedMs } from "../session/usage.ts";
import { span } from "../session/spans.ts";

/** What counting a scope's sessions needs. */
export interface CountContext {
  /** The agent that asks. */
  readonly scope: string;
  /** The settings in force. */
  readonly settings: Settings;
  /** All sessions. */
  readonly registry: Registry;
}

/** How many sessions a refusal describes before it counts the rest. */
const DESCRIBED = 10;

/** Whether a scope has no place for another background session; those that are about to start count. */
export function isFull(context: CountContext): boolean {
  return count(context) >= context.settings.maxSessions;
}

/** The refusal: it describes what could be ended, the most likely to be forgotten first. */
export async function fullError(context: CountContext): Promise<OffstageError> {
  const { registry, scope, settings } = context;
  const live = registry.live.of(scope);
  const candidates = live.filter(({ hidden }) => !hidden).sort((a, b) => unusedMs(b) - unusedMs(a));
  const more = candidates.length - DESCRIBED;
  const beingEnded = live.length - candidates.length;
  const aboutToStart = registry.seatsKept(scope);
  const lines = [
    `Cannot start another command: ${count(context)} background sessions run and maxSessions is ` +
    `${settings.maxSessions}. End one with process kill or remove; longest unused first:`,
    ...await Promise.all(candidates.slice(0, DESCRIBED).map((session) => describe(session, settings.inputWaitIdleMs))),
    ...(more > 0 ? [`and ${more} more: process list`] : []),
    ...(aboutToStart > 0 ? [`${aboutToStart} about to start`] : []),
    ...(beingEnded > 0 ? [`${beingEnded} being ended already: wait a few seconds`] : []),
  ];
  return new OffstageError("refused", lines.join("\n"));
}

async function describe(session: Session, inputWaitIdleMs: number): Promise<string> {
  const { waiting, evidence } = await inputWait(session, inputWaitIdleMs);
  const parts = [
    `${session.id} (${session.name})`,
    `has run for ${span(session.durationMs)}`,
    `unused for ${span(unusedMs(session))}`,
    `silent for ${span(session.idleMs)}`,
    ...(waiting ? [evidence === "idle" ? "may be waiting for input" : "waiting for input"] : []),
  ];
  return parts.join(", ");
}

function count({ registry, scope }: CountContext): number {
  return registry.live.count(scope) + registry.seatsKept(scope);
}
