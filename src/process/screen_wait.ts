/**
 * What a call of `screen` may wait for.
 *
 * @module
 */
import type { SessionScreen } from "../session/screen.ts";
import { drawn } from "../session/screen.ts";
import type { Session } from "../session/session.ts";
import { pause } from "../session/timing.ts";
import { waitFor } from "../session/wait.ts";
import { parseCondition, stableMs, type Until, type UntilContext, waitUntil, type WokenBy } from "./until.ts";

/** A session, its screen, and what the caller asked for. */
interface Wait extends UntilContext {
  readonly session: Session;
  readonly screen: SessionScreen;
}

/**
 * Waits for what `until` asks for, or without it until something has changed since a revision; in any case for the
 * end, and for what has been printed by then to be on the screen.
 *
 * @throws an AbortError when the signal fires
 */
export async function waitForScreen(wait: Wait, until: Until | undefined, since: number): Promise<WokenBy> {
  const { session, screen, signal } = wait;
  await waitFor(session, () => true, { timeoutMs: 0, signal }); // rejects if it has been aborted
  if (until === undefined) {
    await drawn(screen);
    return await waitTo(wait, () => screen.look().revision !== since, "change");
  }
  const stable = stableMs(until);
  if (stable !== undefined) return await waitStable(wait, stable);
  const condition = parseCondition(until);
  if (condition.kind === "match") {
    await drawn(screen);
    return await waitTo(wait, () => condition.pattern.test(screen.look().frame.rows.join("\n")), "match");
  }
  const wokenBy = await waitUntil(session, condition, 0, wait);
  await drawn(screen);
  return wokenBy;
}

async function waitTo(wait: Wait, met: () => boolean, name: WokenBy): Promise<WokenBy> {
  const { session, timeoutMs, signal } = wait;
  if (await waitFor(session, () => met() || hasEnded(wait), { timeoutMs, signal }) === "timeout") return "timeout";
  return met() ? name : "exit";
}

/** Waits until neither the screen nor, by typing, the reason for it to change has changed for a while. */
async function waitStable(wait: Wait, ms: number): Promise<WokenBy> {
  const { session, screen, timeoutMs, signal } = wait;
  const { clock, log } = session;
  const deadline = clock.monotonic() + timeoutMs;
  await drawn(screen);
  let { revision } = screen.look();
  let changedAt = session.lastOutputAt;
  const hasChanged = (): boolean => {
    const now = screen.look().revision;
    if (now === revision) return false;
    revision = now;
    changedAt = clock.monotonic();
    return true;
  };
  for (;;) {
    // What has printed nothing yet has not got as far as drawing
    let left = log.end === 0 ? Infinity : Math.max(changedAt, session.lastInputAt) + ms - clock.monotonic();
    if (left <= 0) {
      await pause(clock, 0, signal); // a busy host may have something to read that has been there all along
      await drawn(screen);
      if (!hasChanged()) return "stable";
      left = ms;
    }
    if (hasEnded(wait)) return "exit";
    const untilDeadline = deadline - clock.monotonic();
    if (untilDeadline <= 0) return "timeout";
    await waitFor(session, () => hasChanged() || hasEnded(wait), { timeoutMs: Math.min(left, untilDeadline), signal });
  }
}

function hasEnded({ session, screen }: Wait): boolean {
  return session.state.kind === "ended" && screen.isDrawn;
}
