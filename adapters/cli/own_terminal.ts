/**
 * The terminal that this program runs in: its size, and its keys as they are typed.
 *
 * @module
 */
import process from "node:process";
import type { TerminalSize } from "../../mod.ts";

/** Size of the terminal on stdout; `undefined` if there is none. */
export function ownSize(): TerminalSize | undefined {
  const { stdout } = process;
  if (!stdout.isTTY) return undefined;
  const [cols, rows] = stdout.getWindowSize?.() ?? [stdout.columns, stdout.rows];
  return cols > 0 && rows > 0 ? { cols, rows } : undefined;
}

/** Calls `listener` after the terminal's size has changed; ends with the function that is returned. */
export function onResize(listener: (size: TerminalSize) => void): () => void {
  const changed = (): void => {
    const size = ownSize();
    if (size !== undefined) listener(size);
  };
  process.stdout.on("resize", changed);
  process.on("SIGWINCH", changed);
  return () => {
    process.stdout.off("resize", changed);
    process.off("SIGWINCH", changed);
  };
}

/**
 * Makes the terminal give every key as it is typed, and echo none.
 *
 * @returns gives it back as it was; safe to call twice. It is called too when this program ends by itself
 */
export function makeRaw(): () => void {
  const { stdin } = process;
  if (!stdin.isTTY) return () => {};
  const restore = (): void => {
    process.off("exit", restore);
    process.off("SIGCONT", again);
    stdin.setRawMode(false);
  };
  const again = (): void => void stdin.setRawMode(true); // the shell has changed it meanwhile
  process.on("exit", restore);
  process.on("SIGCONT", again);
  stdin.setRawMode(true);
  return restore;
}
