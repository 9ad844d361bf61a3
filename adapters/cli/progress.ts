/**
 * A line that says that a command runs, and how long, while it says nothing itself.
 *
 * @module
 */
import process from "node:process";

/** Whoever waits that long wants to know, ms. */
const AFTER_MS = 1_000;

/** Between two pictures, ms. */
const FRAME_MS = 120;

const FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏";

/** The line. */
export interface Progress {
  /** Has to be called before something is printed: the line makes room for it. */
  printed(text: string): void;
  /** Takes the line away for good. */
  stop(): void;
}

/** Shows the line on stderr if that is a terminal, and only below whole lines of output. */
export function showProgress(name: string): Progress {
  const { stderr } = process;
  if (!stderr.isTTY) return { printed: () => {}, stop: () => {} };
  const startedAt = performance.now();
  let quietSince = startedAt;
  let isBelowLine = true;
  let isShown = false;
  const clear = (): void => {
    if (isShown) stderr.write("\r\x1b[K");
    isShown = false;
  };
  const timer = setInterval(() => {
    const now = performance.now();
    if (now - quietSince < AFTER_MS || !isBelowLine) return;
    const frame = FRAMES[Math.floor(now / FRAME_MS) % FRAMES.length];
    const line = `${frame} ${name} runs, ${Math.floor((now - startedAt) / 1000)} s`;
    stderr.write(`\r${[...line].slice(0, Math.max(0, (stderr.columns || 80) - 1)).join("")}\x1b[K`);
    isShown = true;
  }, FRAME_MS);
  timer.unref();
  return {
    printed: (text) => {
      if (text === "") return;
      clear();
      quietSince = performance.now();
      isBelowLine = text.endsWith("\n");
    },
    stop: () => {
      clearInterval(timer);
      clear();
    },
  };
}
