/**
 * `paste`: text as a person would paste it.
 *
 * @module
 */
import type { Session } from "../session/session.ts";
import { pause } from "../session/timing.ts";
import { encodePaste } from "../terminal/paste.ts";
import type { ProcessAnswer } from "./answer.ts";
import type { ProcessContext, ProcessOptions } from "./dispatch.ts";
import { sendWhole } from "./long_line.ts";
import type { SessionParams } from "./schema.ts";
import { keepSecret } from "./secret.ts";
import { cannotType, pauseLeft, type WriteDetails, written } from "./typing.ts";

/** Pastes; the answer says whether it was marked as a paste. */
export async function paste(
  _context: ProcessContext,
  session: Session,
  params: SessionParams,
  { signal }: ProcessOptions,
): Promise<ProcessAnswer<WriteDetails>> {
  const failure = cannotType(session);
  if (failure !== undefined) return failure;
  const bytes = new TextEncoder().encode(params.text ?? "");
  const modes = session.watch?.modes;
  if (modes === undefined) {
    if (params.sensitive === true) keepSecret(session, bytes);
    return written(session, await session.stdin.write(bytes, signal), { bracketed: false });
  }
  const encoded = encodePaste(params.text ?? "", { mode: modes.bracketedPaste, bracketed: params.bracketed });
  const { bracketed, removed } = encoded;
  const taken = removed > 0 ? [`Control characters taken out, as they could end the paste: ${removed}.`] : [];
  return await sendWhole(session, encoded.bytes, async (warnings) => {
    if (params.sensitive === true) keepSecret(session, bytes);
    const left = pauseLeft(session, encoded.bytes);
    if (left > 0) await pause(session.clock, left, signal);
    const result = await session.stdin.write(encoded.bytes, signal);
    return written(session, result, { bracketed, warnings: [...taken, ...warnings] });
  });
}
