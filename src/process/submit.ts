/**
 * `submit`: Enter, by itself.
 *
 * @module
 */
import type { Session } from "../session/session.ts";
import { pause } from "../session/timing.ts";
import type { ProcessAnswer } from "./answer.ts";
import type { ProcessContext, ProcessOptions } from "./dispatch.ts";
import { checkTypedLine, isTypedTooLong, sendWhole } from "./long_line.ts";
import type { SessionParams } from "./schema.ts";
import { cannotType, pauseLeft, type WriteDetails, written } from "./typing.ts";

/** Sends one CR to a terminal, one LF to a pipe, apart from what was written before. */
export async function submit(
  _context: ProcessContext,
  session: Session,
  _params: SessionParams,
  { signal }: ProcessOptions,
): Promise<ProcessAnswer<WriteDetails>> {
  const failure = cannotType(session);
  if (failure !== undefined) return failure;
  const enter = new Uint8Array([session.facts.pty ? 0x0d : 0x0a]);
  return await sendWhole(session, enter, async () => {
    const warnings = isTypedTooLong(session) ? await checkTypedLine(session) : [];
    const left = pauseLeft(session, enter);
    if (left > 0) await pause(session.clock, left, signal);
    return written(session, await session.stdin.write(enter, signal), { warnings });
  });
}
