/**
 * `write`: text or bytes for the program's stdin or terminal.
 *
 * @module
 */
import type { Session } from "../session/session.ts";
import type { ProcessAnswer } from "./answer.ts";
import type { ProcessContext, ProcessOptions } from "./dispatch.ts";
import { sendWhole } from "./long_line.ts";
import type { SessionParams } from "./schema.ts";
import { keepSecret } from "./secret.ts";
import { cannotType, type WriteDetails, written } from "./typing.ts";

const CONTROL_D = 0x04;

/** Writes, and ends the input if asked to. */
export async function write(
  _context: ProcessContext,
  session: Session,
  params: SessionParams,
  { signal }: ProcessOptions,
): Promise<ProcessAnswer<WriteDetails>> {
  const failure = cannotType(session);
  if (failure !== undefined) return failure;
  const bytes = params.base64 === undefined ? new TextEncoder().encode(params.data ?? "") : decodeBase64(params.base64);
  return await sendWhole(session, bytes, async (warnings) => {
    if (params.sensitive === true) keepSecret(session, bytes);
    const result = await session.stdin.write(bytes, signal);
    const eof = params.eof === true && result.refused === 0 && !result.broken;
    if (eof && session.facts.pty) await session.stdin.write(terminalEof(session), signal);
    else if (eof) session.stdin.end();
    return written(session, result, { eof, warnings });
  });
}

/** In its normal mode a terminal takes ^D as the end only at the start of a line; after other text it flushes that. */
function terminalEof({ typedLine }: Session): Uint8Array {
  return new Uint8Array(typedLine === 0 ? [CONTROL_D] : [CONTROL_D, CONTROL_D]);
}

function decodeBase64(text: string): Uint8Array {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}
