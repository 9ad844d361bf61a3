/**
 * Types what a viewer types: in order, and no more at once than a session takes.
 *
 * @module
 */
import type { Agent } from "../../mod.ts";
import { base64Of } from "./base64.ts";

/** Types into one session. */
export interface Typist {
  /** Types bytes after those that were typed before. */
  type(bytes: Uint8Array): void;
}

/** Most bytes that wait while the session takes others: as many as it queues itself. */
const MOST_WAITING_BYTES = 1_048_576;

/**
 * Makes the typist of a viewer.
 *
 * @param refuse called when something cannot be typed, with the reason for people
 */
export function createTypist(agent: Agent, sessionId: string, refuse: (why: string) => void): Typist {
  let waiting: Uint8Array[] = [];
  let bytesWaiting = 0;
  let isTyping = false;

  async function typeAll(): Promise<void> {
    while (waiting.length > 0) {
      const bytes = joined(waiting, bytesWaiting);
      waiting = [];
      bytesWaiting = 0;
      const { text, isError } = await agent.process({ action: "write", sessionId, base64: base64Of(bytes) });
      if (isError) refuse(text);
    }
  }

  return {
    type: (bytes) => {
      if (bytes.length === 0) return;
      if (bytesWaiting + bytes.length > MOST_WAITING_BYTES) {
        return refuse(`${bytes.length} bytes were not typed: the program does not read what was typed before`);
      }
      waiting.push(bytes);
      bytesWaiting += bytes.length;
      if (isTyping) return;
      isTyping = true;
      void typeAll().finally(() => isTyping = false);
    },
  };
}

function joined(pieces: readonly Uint8Array[], size: number): Uint8Array {
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes;
}
