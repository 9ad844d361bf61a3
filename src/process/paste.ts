/**
 * `paste`: text as a person would paste it.
 *
 * @module
 */
import type { Session } from "../session/session.ts";
import { encodePaste } from "../terminal/paste.ts";
import type { ProcessAnswer } from "./answer.ts";
import type { ProcessContext, ProcessOptions } from "./dispatch.ts";
import type { SessionParams } from "./schema.ts";
import { cannotType, longLineWarnings, type WriteDetails, written } from "./typing.ts";

/** Pastes; the answer says whether it was marked as a paste. */
export async function paste(
  _context: ProcessContext,
  session: Session,
  params: SessionParams,
  { signal }: ProcessOptions,
): Promise<ProcessAnswer<WriteDetails>> {
  const failure = cannotType(session);
  if (failure !== undefined) return failure;
  const text = params.text ?? "";
  const modes = session.watch?.modes;
  if (modes === undefined) {
    const result = await session.stdin.write(new TextEncoder().encode(text), signal);
    return written(session, result, { bracketed: false });
  }
  const encoded = encodePaste(text, { mode: modes.bracketedPaste, bracketed: params.bracketed });
  const warnings = [
    ...(encoded.removed > 0 ? [`${encoded.removed} control characters that could end the paste were taken out.`] : []),
    ...(encoded.bracketed ? [] : longLineWarnings(session, encoded.bytes)),
  ];
  const result = await session.stdin.write(encoded.bytes, signal);
  return written(session, result, { bracketed: encoded.bracketed, warnings });
}
