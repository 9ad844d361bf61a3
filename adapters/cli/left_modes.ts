/**
 * What a program has set the terminal to, so that whoever leaves it gets his own terminal back as it was.
 *
 * @module
 */

/** Private modes, the keypad's mode, and the stack of keyboard flags (kitty), as programs switch them. */
// deno-lint-ignore no-control-regex
const SWITCH = /\x1b(?:\[\?([\d;]+)([hl])|([=>])|\[([>=<])(\d*)(?:;\d+)?u)/g;

/** The beginning of one that may go on in the next piece; none is longer. */
// deno-lint-ignore no-control-regex
const BEGUN = /\x1b(?:\[[?>=<]?[\d;]{0,40})?$/;

/** On unless a program switches it off: the cursor is shown. */
const SHOWN_CURSOR = "25";

/** Looks at output for what has to be taken back. */
export interface LeftModes {
  /** Takes the next piece. */
  see(bytes: Uint8Array): void;
  /** What takes everything back, to be printed. */
  undo(): string;
}

/** Makes what looks at the output of one program. */
export function createLeftModes(): LeftModes {
  const decoder = new TextDecoder("latin1");
  const changed = new Set<string>();
  let keypad = false;
  let keyboards = 0;
  let rest = "";

  return {
    see: (bytes) => {
      const text = rest + decoder.decode(bytes);
      for (const [, modes, way, keys, stack, count] of text.matchAll(SWITCH)) {
        for (const mode of modes?.split(";") ?? []) {
          if ((way === "h") === (mode === SHOWN_CURSOR)) changed.delete(mode);
          else changed.add(mode);
        }
        if (keys !== undefined) keypad = keys === "=";
        if (stack === ">") keyboards += 1;
        if (stack === "<") keyboards = Math.max(0, keyboards - Number(count || 1));
      }
      rest = BEGUN.exec(text)?.[0] ?? "";
    },
    undo: () =>
      [
        ...(keyboards > 0 ? [`\x1b[<${keyboards}u`] : []),
        ...[...changed].reverse().map((mode) => `\x1b[?${mode}${mode === SHOWN_CURSOR ? "h" : "l"}`),
        ...(keypad ? ["\x1b>"] : []),
        "\x1b[0m",
      ].join(""),
  };
}
