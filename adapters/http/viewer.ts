/**
 * What a viewer of a session is to be sent next: nothing but a position, whatever the session prints meanwhile.
 *
 * A viewer who takes nothing costs nothing and holds nobody up. When he takes again, what has been dropped from the log
 * meanwhile is told as a gap.
 *
 * @module
 */
import type { Outcome } from "../../mod.ts";
import type { Frame, Frames } from "./frames.ts";

/** What a viewer is sent next. */
export type Step =
  /** Bytes that he does not get. */
  | { readonly kind: "gap"; readonly from: number; readonly to: number }
  /** Output. */
  | { readonly kind: "frame"; readonly frame: Frame }
  /** Nothing comes any more; without `outcome` it is not known how the session ended. */
  | { readonly kind: "end"; readonly at: number; readonly outcome: Outcome | undefined };

/** What a viewer looks at. */
export interface Viewed {
  /** Offset of the oldest byte that is held. */
  readonly start: number;
  /** Offset up to which it may be shown. */
  readonly end: number;
  /** Whether nothing comes after {@linkcode Viewed.end}. */
  readonly over: boolean;
  /** How it ended. */
  readonly outcome: Outcome | undefined;
}

/** One viewer. */
export interface Viewer {
  /** Offset of the next byte he is sent. */
  readonly position: number;
  /** Whether the end has been given out: nothing follows. */
  readonly done: boolean;
  /** Takes the next step; `undefined` if there is nothing to send now. */
  next(): Step | undefined;
}

/**
 * Makes a viewer.
 *
 * @param since offset at which he begins; one that has not been reached yet means the present end
 */
export function createViewer(viewed: Viewed, frames: Frames, since: number): Viewer {
  let position = Math.min(since, viewed.end);
  let done = false;

  function skipTo(to: number): Step {
    const gap: Step = { kind: "gap", from: position, to };
    position = to;
    return gap;
  }

  return {
    get position() {
      return position;
    },
    get done() {
      return done;
    },
    next: () => {
      if (done) return undefined;
      const { start, end, over } = viewed;
      const floor = over ? Math.min(start, end) : start;
      if (position < floor) return skipTo(floor);
      if (position < end) {
        const frame = frames.at(position, end);
        if (frame === undefined) return skipTo(end);
        position = frame.to;
        return { kind: "frame", frame };
      }
      if (!over) return undefined;
      done = true;
      return { kind: "end", at: position, outcome: viewed.outcome };
    },
  };
}
