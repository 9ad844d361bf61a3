/**
 * Answers to the questions that programs ask their terminal.
 *
 * @module
 */
import type { Reply } from "../terminal/watch.ts";
import type { Session } from "./session.ts";

/**
 * Types an answer into a session's terminal, in the order of the questions. With a screen the position in it is that of
 * the cursor when all output before the question is on it, without one 1;1 (spec R16).
 */
export function answerTerminal(session: Session, reply: Reply): void {
  const type = (bytes: Uint8Array): void => session.stdin.answer(bytes);
  const { screen } = session;
  if (screen === undefined) return type(reply({ row: 1, col: 1 }));
  screen.whenDrawn(() => {
    const { row, col } = screen.look().frame.cursor;
    type(reply({ row: row + 1, col: col + 1 }));
  });
}
