/**
 * `submit`: Enter, by itself.
 *
 * @module
 */
import type { Session } from "../session/session.ts";
import { pause } from "../session/timing.ts";
import type { ProcessAnswer } from "./answer.ts";
import type { ProcessContext, ProcessOptions } from "./dispatch.ts";
import type { SessionParams } from "./schema.ts";
import { cannotType, type WriteDetails, written } from "./typing.ts";

/** Text and Enter that arrive together are taken for a paste by many programs; they look this long at most, ms. */
const APART_MS = 50;

/** Sends one CR to a terminal, one LF to a pipe, apart from what was written before. */
export async function submit(
  _context: ProcessContext,
  session: Session,
  _params: SessionParams,
  { signal }: ProcessOptions,
): Promise<ProcessAnswer<WriteDetails>> {
  const failure = cannotType(session);
  if (failure !== undefined) return failure;
  const { pty } = session.facts;
  const since = session.clock.monotonic() - session.lastInputAt;
  if (pty && since < APART_MS) await pause(session.clock, APART_MS - since, signal);
  return written(session, await session.stdin.write(new Uint8Array([pty ? 0x0d : 0x0a]), signal));
}
