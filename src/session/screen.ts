/**
 * A session's screen: drawn from the output that is held, and from then on as output comes.
 *
 * Nothing of it exists until somebody asks; then it lives as long as the session. It reads the log at its own pace, so
 * a program that prints faster than can be drawn costs no memory, but parts of the picture.
 *
 * @module
 */
import { endOf, type Segment } from "../output/segments.ts";
import { decode } from "../output/utf8.ts";
import type { TerminalSize } from "../runtime.ts";
import { createRevisions, type Look } from "../terminal/revisions.ts";
import { loadScreens, type OpenScreen } from "../terminal/screen.ts";
import type { Session } from "./session.ts";
import { nextChange, sizeAt } from "./sizes.ts";

/** The screen of one session. */
export interface SessionScreen {
  /** Whether all output so far is on it, or, once it is forgotten, no more will be. */
  readonly isDrawn: boolean;
  /** Bytes of output it was not drawn from: they were no longer held when it came to them. */
  readonly missingBytes: number;
  /** Calls `then` when all that has been printed by now is on it: at once if it is. In the order of the calls. */
  whenDrawn(then: () => void): void;
  /** What is on it now. */
  look(): Look;
  /** The newest lines that have scrolled off its top, at most `count`, oldest first. */
  scrollback(count: number): readonly string[];
  /** Forgets it. */
  close(): void;
}

/** Bytes drawn between two looks at what else there is to do. */
const PORTION_BYTES = 65_536;

/** How far into output that begins anywhere a sequence may be open, UTF-16 units. */
const OPEN_SEQUENCE_LENGTH = 64;

/** For a session that was not given a size, which none with a terminal is. */
const NO_SIZE: TerminalSize = { cols: 80, rows: 24 };

/** Aborts a sequence that is open (CAN). */
const CANCEL = "\x18";
const TO_ALTERNATE = "\x1b[?1049h";
const TO_NORMAL = "\x1b[?1049l";

/**
 * The session's screen, made if there is none yet.
 *
 * @throws {OffstageError} `unsupported` if the emulator is not installed
 */
export async function screenOf(session: Session): Promise<SessionScreen> {
  if (session.screen !== undefined) return session.screen;
  const open = await loadScreens();
  return (session.screen ??= followScreen(session, open));
}

/** Resolves when all that has been printed by now is on the screen. */
export function drawn(screen: SessionScreen): Promise<void> {
  return new Promise((resolve) => screen.whenDrawn(resolve));
}

function followScreen(session: Session, open: OpenScreen): SessionScreen {
  const { log } = session;
  let size = sizeAt(session.sizes, log.start) ?? NO_SIZE;
  const screen = open(size);
  const see = createRevisions();
  const waiting: { readonly at: number; readonly then: () => void }[] = [];
  let position = 0;
  let missingBytes = 0;
  let isDrawing = false;
  let isClosed = false;

  /** Draws the next portion; the change of the session that this is calls it again. */
  function draw(): void {
    if (isDrawing || isClosed) return;
    const isBehind = position < log.start;
    if (!isBehind) {
      fit();
      callDue();
    }
    const portion = isBehind ? restart() : nextPortion();
    if (portion === undefined) return;
    isDrawing = true;
    void screen.write(portion).then(() => {
      isDrawing = false;
      session.touch(); // whoever waits for something on the screen looks again
    });
  }

  /** Takes the size that the terminal had when it printed what comes next. */
  function fit(): void {
    const now = sizeAt(session.sizes, position) ?? size;
    if (now.cols === size.cols && now.rows === size.rows) return;
    size = now;
    screen.resize(now);
  }

  function callDue(): void {
    for (let next = waiting[0]; next !== undefined && next.at <= position; next = waiting[0]) {
      waiting.shift();
      next.then();
    }
  }

  function nextPortion(): string | undefined {
    const next = Math.min(nextChange(session.sizes, position), waiting[0]?.at ?? Infinity);
    const to = Math.min(log.end, position + PORTION_BYTES, next);
    const segments = log.read(position, to);
    position = endOf(segments, to);
    return segments.length === 0 ? undefined : textOf(segments);
  }

  /** Goes on from the oldest output that is held, on the screen that was up then. */
  function restart(): string {
    const before = log.lookBack(log.start, "terminal").filter(({ at, bytes }) => at + bytes.length > position);
    const gap = (before[0]?.at ?? log.start) - position;
    const text = before.map(({ at, bytes }) => decode(bytes.subarray(Math.max(0, position - at)))).join("");
    position = log.start;
    if (gap <= 0) return text;
    missingBytes += gap;
    const isAlternate = wasAlternate(session, text + textOf(log.read(log.start)));
    const isUp = screen.frame().alternateScreen;
    return CANCEL + (isAlternate === isUp ? "" : isAlternate ? TO_ALTERNATE : TO_NORMAL) + fromWholeSequence(text);
  }

  const stopListening = session.onChange(draw);
  draw();

  return {
    get isDrawn() {
      return isClosed || (!isDrawing && position === log.end);
    },
    get missingBytes() {
      return missingBytes;
    },
    whenDrawn(then) {
      if (isClosed) return then();
      waiting.push({ at: log.end, then });
      draw();
    },
    look: () => see(screen.frame()),
    scrollback: screen.scrollback,
    close() {
      isClosed = true;
      session.screen = undefined;
      stopListening();
      screen.close();
      for (const { then } of waiting.splice(0)) then();
      session.touch(); // whoever waits for something on it waits in vain
    },
  };
}

/** Whether a full-screen program was up where this output begins: the first switch in it tells, or else the present. */
function wasAlternate({ watch }: Session, output: string): boolean {
  // deno-lint-ignore no-control-regex -- that is what a switch looks like
  const [, to] = /\x1b\[\?(?:\d+;)*(?:47|1047|1049)(?:;\d+)*([hl])/.exec(output) ?? [];
  return to === undefined ? watch?.modes.alternateScreen ?? false : to === "l";
}

/** Without the end of a sequence whose beginning is missing: it would be drawn as text. */
function fromWholeSequence(output: string): string {
  // deno-lint-ignore no-control-regex -- that is where another begins, or none can be open
  const first = output.search(/[\x1b\n]/);
  return first < OPEN_SEQUENCE_LENGTH ? output.slice(Math.max(0, first)) : output;
}

function textOf(segments: readonly Segment[]): string {
  return segments.map(({ bytes }) => decode(bytes)).join("");
}
