/**
 * Lines that are too long for a terminal: in its normal (cooked) mode it keeps 4095 bytes of one and drops the rest.
 * Whoever types is told before that happens (spec P31).
 *
 * @module
 */
import type { Session } from "../session/session.ts";
import { COOKED_LINE_BYTES, typeOn } from "../terminal/typed_line.ts";
import type { ProcessAnswer } from "./answer.ts";
import { notSent, type WriteDetails } from "./typing.ts";

type Answer = ProcessAnswer<WriteDetails>;

/** Types what has been checked; it is given what has to be said about it. */
export type Send = (warnings: readonly string[]) => Promise<Answer>;

/**
 * Sends bytes if the terminal takes their lines whole. A line that it is known to cut refuses all of them; where it
 * cannot be asked for its mode they are sent, with a warning. What is typed meanwhile stays behind them.
 *
 * @param send has to begin its write at once
 */
export async function sendWhole(session: Session, bytes: Uint8Array, send: Send): Promise<Answer> {
  if (session.typing === undefined && longestLine(session, bytes) <= COOKED_LINE_BYTES) return await send([]);
  const asked = sendInTurn(session.typing, session, bytes, send);
  const leave = (): void => {
    if (session.typing === typing) session.typing = undefined;
  };
  const typing = asked.then(leave, leave);
  session.typing = typing;
  const { answer } = await asked;
  return await answer;
}

/** Is done once the write has begun; how it ends is another matter. */
async function sendInTurn(
  earlier: Promise<void> | undefined,
  session: Session,
  bytes: Uint8Array,
  send: Send,
): Promise<{ readonly answer: Promise<Answer> }> {
  await earlier;
  const longest = longestLine(session, bytes);
  const isCooked = longest > COOKED_LINE_BYTES ? await session.child.isCooked?.() : false;
  switch (isCooked) {
    case false:
      return { answer: send([]) };
    case true:
      return { answer: Promise.resolve(notSent(session, bytes, wouldBeCut(session, bytes, longest))) };
    case undefined:
      // Who asks for bracketed pastes edits lines itself, in raw mode
      return { answer: send(session.watch?.modes.bracketedPaste === true ? [] : [mayBeCut(longest)]) };
  }
}

/** Whether the line that is being typed is longer than a terminal keeps in its normal mode. */
export function isTypedTooLong({ typedLine }: Session): boolean {
  return typedLine > COOKED_LINE_BYTES;
}

/** Warns that this line may have been cut, unless its terminal is in raw mode. */
export async function checkTypedLine({ typedLine, child }: Session): Promise<readonly string[]> {
  return await child.isCooked?.() === false ? [] : [mayBeCut(typedLine)];
}

function longestLine(session: Session, bytes: Uint8Array): number {
  return session.facts.pty ? typeOn(session.typedLine, bytes).longest : 0;
}

const INSTEAD = "Use shorter lines, a file, or pipes (pty: false)";

function wouldBeCut(session: Session, bytes: Uint8Array, longest: number): string {
  const before = longest > typeOn(0, bytes).longest ? session.typedLine : 0;
  const typed = before > 0 ? ` (${before} were typed before; send-keys C-u starts it afresh)` : "";
  return `A line of ${longest} bytes${typed} is too long for a terminal in its normal mode, which would keep ` +
    `${COOKED_LINE_BYTES} and drop the rest. ${INSTEAD}, or poll until the program reads in raw mode.`;
}

function mayBeCut(bytes: number): string {
  return `A line of ${bytes} bytes went to a terminal: in its normal mode it keeps ${COOKED_LINE_BYTES} and drops the ` +
    `rest, only programs in raw mode get all of it. ${INSTEAD}.`;
}
