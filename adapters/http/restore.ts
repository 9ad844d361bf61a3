/**
 * What makes a terminal ready for output whose beginning it has not seen.
 *
 * @module
 */
import type { SessionView, TerminalModes } from "../../mod.ts";

type ModeName = Exclude<keyof TerminalModes, "numericKeypad">;

/** The numbers by which programs set the modes; the first one is how we set it. */
const NUMBERS: Readonly<Record<ModeName, readonly string[]>> = {
  alternateScreen: ["1049", "1047", "47"],
  applicationCursor: ["1"],
  applicationKeypad: ["66"],
  bracketedPaste: ["2004"],
};

/** Ends a sequence that has been cut (CAN), and whatever colours were on. */
const FRESH = "\x18\x1b[0m";

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** Sequences that set modes: by numbers, the keypad's own, and the reset of everything. */
// deno-lint-ignore no-control-regex
const SETTING = /\x1b(?:\[\?([\d;]+)([hl])|([=>])|(c))/g;

/** The sequences that put a terminal into the modes in which the program wrote what is held from an offset on. */
export type Restoring = (from: number) => Uint8Array;

/** Makes them for one session: once for all viewers that have to go on from the same offset. */
export function createRestoring(view: Pick<SessionView, "modes" | "read">): Restoring {
  let known: { readonly from: number; readonly bytes: Uint8Array } | undefined;
  return (from) => {
    if (known?.from !== from) known = { from, bytes: restoring(view, from) };
    return known.bytes;
  };
}

/** A mode that is set later on was off before, and the other way round; one that does not change is as it is now. */
function restoring(view: Pick<SessionView, "modes" | "read">, from: number): Uint8Array {
  const modes: Partial<Record<ModeName, boolean>> = {};
  const text = view.read(from).map(({ bytes }) => decoder.decode(bytes)).join("");
  for (const [, numbers, final, keypad, reset] of text.matchAll(SETTING)) {
    if (reset !== undefined) break; // what comes later says nothing about the beginning
    if (keypad !== undefined) modes.applicationKeypad ??= keypad === ">";
    for (const number of numbers?.split(";") ?? []) {
      const name = NAMES.get(number);
      if (name !== undefined) modes[name] ??= final === "l";
    }
  }
  const sequences = Object.entries(NUMBERS).map(([name, [number]]) => {
    const isSet = modes[name as ModeName] ?? view.modes?.[name as ModeName] ?? false;
    return `\x1b[?${number}${isSet ? "h" : "l"}`;
  });
  return new TextEncoder().encode(FRESH + sequences.join(""));
}

const NAMES: ReadonlyMap<string, ModeName> = new Map(
  Object.entries(NUMBERS).flatMap(([name, numbers]) => numbers.map((number) => [number, name as ModeName])),
);
