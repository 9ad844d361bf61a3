/**
 * One session as a front end shows it live: its bytes as they come, its terminal, its end.
 *
 * @module
 */
import type { Segment } from "../output/segments.ts";
import type { TerminalSize } from "../runtime.ts";
import type { TerminalModes } from "../terminal/watch.ts";
import type { Outcome } from "./outcome.ts";
import type { Session } from "./session.ts";
import type { SizeChange } from "./sizes.ts";
import { use } from "./usage.ts";

/**
 * A session's output for code that shows it as it comes. Reading consumes nothing: it moves no poller's place and makes
 * no end old news.
 *
 * @example Follow a session byte for byte
 * ```ts
 * import { createOffstage } from "offstage/node";
 *
 * await using offstage = createOffstage();
 * const agent = offstage.agent("agent-1");
 * const { details } = await agent.exec({ command: "sleep 0.1; echo done", background: true });
 * const view = details.status === "running" ? agent.session(details.sessionId) : undefined;
 * if (view !== undefined) {
 *   await new Promise<void>((resolve) => {
 *     const stop = view.watch(() => {
 *       if (view.outcome === undefined) return;
 *       stop();
 *       resolve();
 *     });
 *   });
 *   const decoder = new TextDecoder();
 *   console.log(view.read(view.start).map(({ bytes }) => decoder.decode(bytes)).join("")); // done
 * }
 * ```
 */
export interface SessionView {
  /** Its id. */
  readonly sessionId: string;
  /** The scope that owns it. */
  readonly scope: string;
  /** Verb and target of its command. */
  readonly name: string;
  /** Whether it has a terminal. */
  readonly pty: boolean;
  /** The terminal's size now; `undefined` for pipes. */
  readonly size: TerminalSize | undefined;
  /** The sizes its terminal has had while it printed what is held, oldest first; none for pipes. */
  readonly sizes: readonly SizeChange[];
  /** What its program has set its terminal to; `undefined` for pipes. */
  readonly modes: TerminalModes | undefined;
  /** Offset of the oldest byte that is held. What is before it has been dropped. */
  readonly start: number;
  /** Offset after the newest byte: bytes ever. */
  readonly end: number;
  /** How it ended; `undefined` while it runs. What a child that it left behind prints later is still output. */
  readonly outcome: Outcome | undefined;
  /** Whether it is not kept any more: nothing will be added, and its id is unknown to every call. */
  readonly gone: boolean;
  /**
   * What is held from one offset to another, whole characters only. Less than was asked for if `from` is before
   * {@linkcode SessionView.start}: look at the first one's `at`.
   *
   * @param to default: the end
   */
  read(from: number, to?: number): readonly Segment[];
  /** The newest output, rendered, at most so many characters; from the start of a line when one is near. */
  tail(maxChars: number): string;
  /**
   * Calls `listener` after each change: output, size, end, departure. It is in use meanwhile, as far as `idleEndMs` is
   * concerned.
   *
   * @param listener must not throw, and does little: the reader of the output waits for it
   * @returns a function that ends it; safe to call twice
   */
  watch(listener: () => void): () => void;
}

/** Makes a view of a session. */
export function viewOf(session: Session): SessionView {
  const { log } = session;
  return {
    sessionId: session.id,
    scope: session.facts.scope,
    name: session.name,
    pty: session.facts.pty,
    get size() {
      return session.sizes.at(-1);
    },
    get sizes() {
      return session.sizes;
    },
    get modes() {
      return session.watch?.modes;
    },
    get start() {
      return log.start;
    },
    get end() {
      return log.end;
    },
    get outcome() {
      return session.state.kind === "ended" ? session.state.outcome : undefined;
    },
    get gone() {
      return session.hidden;
    },
    read: (from, to) => log.read(from, to),
    tail: (maxChars) => session.tail(maxChars),
    watch: (listener) => {
      const done = use(session);
      const stopListening = session.onChange(listener);
      let watching = true;
      return () => {
        if (!watching) return;
        watching = false;
        stopListening();
        done();
      };
    },
  };
}
