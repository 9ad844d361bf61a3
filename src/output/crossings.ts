/**
 * Finds out whether output may do more than edit the line it is on. If not, each line can be rendered by itself.
 *
 * @module
 */

import type { StreamName } from "../runtime.ts";
import type { Segment } from "./segments.ts";
import { crossesLines, ESCAPES_ACROSS } from "./sequences.ts";

/** Looks at a log as it grows, at each byte once. */
export interface Crossings {
  /**
   * Offset after the newest sequence that may leave its line; 0 if there was none. Some that a control string contains
   * are counted, though they have no effect; none that has one is missed.
   */
  last(stream?: StreamName): number;
}

/** What is open at the end of what has been seen of a stream. */
interface Place {
  state: "text" | "escape" | "sequence";
  parameters: string;
  before: number;
  last: number;
}

const ESCAPE = 0x1b;
const BRACKET = 0x5b;
/** U+009B, which introduces a sequence in one character, in UTF-8. */
const C1_LEAD = 0xc2;
const C1_CSI = 0x9b;
/** Parameters looked at: more than a terminal takes. */
const LONGEST_PARAMETERS = 64;

/** Creates a scan that has seen nothing. @param read what is held from an offset on */
export function createCrossings(read: (from: number) => readonly Segment[]): Crossings {
  let seen = 0;
  const places: Record<StreamName, Place> = { stdout: createPlace(), stderr: createPlace(), terminal: createPlace() };

  return {
    last(stream) {
      for (const segment of read(seen)) {
        look(places[segment.stream], segment);
        seen = segment.at + segment.bytes.length;
      }
      const { stdout, stderr, terminal } = places;
      return stream === undefined ? Math.max(stdout.last, stderr.last, terminal.last) : places[stream].last;
    },
  };
}

function createPlace(): Place {
  return { state: "text", parameters: "", before: 0, last: 0 };
}

function look(place: Place, { at, bytes }: Segment): void {
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes[index] as number;
    if (byte === C1_CSI && (index > 0 ? bytes[index - 1] : place.before) === C1_LEAD) place.last = at + index + 1;
    else if (byte === ESCAPE) place.state = "escape";
    else if (place.state !== "text" && ends(place, byte)) place.last = at + index + 1;
  }
  place.before = bytes.at(-1) ?? place.before;
}

/** Takes a byte of a sequence. @returns whether it ends one that leaves its line */
function ends(place: Place, byte: number): boolean {
  if (place.state === "escape") {
    place.state = byte === BRACKET ? "sequence" : "text";
    place.parameters = "";
    return ESCAPES_ACROSS.includes(String.fromCharCode(byte));
  }
  const char = String.fromCharCode(byte);
  if (byte >= 0x20 && byte <= 0x3f) {
    if (place.parameters.length < LONGEST_PARAMETERS) place.parameters += char;
    return false;
  }
  place.state = "text";
  return crossesLines(place.parameters, char);
}
