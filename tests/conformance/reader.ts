/**
 * Reads one session as an agent does, and sees to it that every byte comes once and the end is told once.
 *
 * @module
 */
import { assertEquals } from "@std/assert";
import type { Agent, EndReason, EndStatus, PollDetails, SignalName } from "../../mod.ts";
import { poll } from "./agent.ts";

/** How a session ended, in the words that every answer uses. */
export interface End {
  readonly status: EndStatus;
  readonly reason: EndReason;
  readonly exitCode: number | null;
  readonly signal: SignalName | null;
}

/** The end that an answer tells of. */
export function endOf(answer: { readonly [Key in keyof End]?: unknown }): End {
  const { status, reason, exitCode, signal } = answer as End;
  return { status, reason, exitCode, signal };
}

/** The only reader of a session. */
export interface Reader {
  /** Everything it has read. */
  output(): string;
  /** Polls once. */
  read(options?: { readonly timeout?: number; readonly until?: string }): Promise<PollDetails>;
  /** Polls to the end, and once more: the end stays what it was and brings nothing new. */
  readToEnd(): Promise<End>;
}

/**
 * Makes the reader of a session that nobody has read yet.
 *
 * @param waitMs how long each poll of {@linkcode Reader.readToEnd} waits, asked before each
 */
export function createReader(agent: Agent, sessionId: string, waitMs: () => number = () => 30_000): Reader {
  let output = "";
  let at = 0;

  async function read(options: { readonly timeout?: number; readonly until?: string } = {}): Promise<PollDetails> {
    const answer = await poll(agent, sessionId, options);
    assertEquals([answer.from, answer.dropped], [at, 0], `it read on at another place: ${answer.text}`);
    output += answer.output;
    at = answer.to;
    return answer;
  }

  async function readToEnd(): Promise<End> {
    for (;;) {
      const answer = await read({ timeout: waitMs() });
      if (answer.status === "running") continue;
      const again = await read();
      assertEquals(
        [again.output, endOf(again)],
        ["", endOf(answer)],
        "the end was told twice, or something came after it",
      );
      return endOf(answer);
    }
  }

  return { output: () => output, read, readToEnd };
}
