/**
 * A terminal in the hands of a test, as an agent has it: looking, typing and waiting through `process` alone.
 *
 * @module
 */
import { assert, assertEquals } from "@std/assert";
import type { Agent, ExecParams, PollDetails, ProcessParams, ScreenDetails } from "../../mod.ts";
import { background, poll } from "./agent.ts";

/** Longest wait of one call, ms. */
export const WAIT_MS = 30_000;

/** A picture of the screen. */
export type Shown = ScreenDetails & { text: string };

/** A program in a terminal. */
export interface Hands {
  /** Its session. */
  readonly id: string;
  /** Presses keys. */
  press(...keys: readonly string[]): Promise<void>;
  /** Types text. */
  type(data: string, options?: { readonly sensitive?: boolean }): Promise<void>;
  /** Pastes text; says whether it was marked as a paste. */
  paste(text: string): Promise<boolean>;
  /** Presses Enter, apart from what was typed before. */
  enter(): Promise<void>;
  /** Looks at the screen, waiting if there is something to wait for. */
  look(options?: Omit<ProcessParams, "action" | "sessionId">): Promise<Shown>;
  /** Waits until a pattern is on the screen. */
  see(pattern: string, options?: Omit<ProcessParams, "action" | "sessionId">): Promise<Shown>;
  /** What is printed until the program waits for input. */
  untilInput(): Promise<string>;
  /** What is printed until some of it matches. */
  untilMatch(pattern: string): Promise<string>;
  /** Waits for the end. */
  end(): Promise<PollDetails & { text: string }>;
}

/** Starts a program in a terminal. */
export async function handsOn(agent: Agent, params: ExecParams): Promise<Hands> {
  const { id } = await background(agent, { pty: true, yieldMs: 10, ...params });
  return handsOf(agent, id);
}

/** A session that has a terminal. */
export function handsOf(agent: Agent, id: string): Hands {
  const act = async (params: Omit<ProcessParams, "sessionId">): Promise<object> => {
    const { isError, text, details } = await agent.process({ sessionId: id, ...params } as ProcessParams);
    assert(!isError, text);
    return details;
  };
  const look: Hands["look"] = async (options = {}) => {
    const wait = options.until === undefined ? {} : { timeout: WAIT_MS };
    const { details, text } = await agent.process({ action: "screen", sessionId: id, ...wait, ...options });
    if (!("rowNumbers" in details)) throw new Error(`Expected a screen but got: ${text}`);
    return { ...details, text };
  };
  const waitFor = async (until: string, wokenBy: string): Promise<string> => {
    const answer = await poll(agent, id, { until, timeout: WAIT_MS });
    assertEquals(answer.wokenBy, wokenBy, `until ${until}: ${answer.text}`);
    return answer.output;
  };
  return {
    id,
    async press(...keys) {
      await act({ action: "send-keys", keys });
    },
    async type(data, options = {}) {
      await act({ action: "write", data, ...options });
    },
    async paste(text) {
      const details = await act({ action: "paste", text });
      return "bracketed" in details && details.bracketed === true;
    },
    async enter() {
      await act({ action: "submit" });
    },
    look,
    async see(pattern, options = {}) {
      const shown = await look({ until: pattern, ...options });
      assertEquals(shown.wokenBy, "match", `${pattern} in\n${shown.text}`);
      return shown;
    },
    untilInput: () => waitFor("input", "input"),
    untilMatch: (pattern) => waitFor(pattern, "match"),
    async end() {
      const answer = await poll(agent, id, { until: "exit", timeout: WAIT_MS });
      assertEquals(answer.wokenBy, "exit", answer.text);
      return answer;
    },
  };
}
