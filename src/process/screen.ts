/**
 * `screen`: the terminal as a person would see it; nothing is consumed.
 *
 * @module
 */
import { fitHeadAndTail } from "../output/budget.ts";
import type { TerminalSize } from "../runtime.ts";
import { type InputEvidence, inputWait } from "../session/input_wait.ts";
import { wasNotified } from "../session/news.ts";
import { drawn, screenOf, type SessionScreen } from "../session/screen.ts";
import type { Session } from "../session/session.ts";
import { sizeAt } from "../session/sizes.ts";
import { pause } from "../session/timing.ts";
import { seconds } from "../session/spans.ts";
import { inputHint, statusText, toldBefore } from "../session/wording.ts";
import { notPossible, type ProcessAnswer, type StatusDetails, statusOf } from "./answer.ts";
import type { ProcessContext, ProcessOptions } from "./dispatch.ts";
import type { SessionParams } from "./schema.ts";
import { waitForScreen } from "./screen_wait.ts";
import { waitMs, waitSentence, type WokenBy } from "./until.ts";

/** `details` of a screen (spec P21). Rows and columns are counted from 0. */
export interface ScreenDetails extends StatusDetails {
  /** Whether an event has told of its end before. */
  readonly notified: boolean;
  /** The rows from the top, without the blanks at their ends; with `since` only those that have changed. */
  readonly rows: readonly string[];
  /** The number of each of `rows`. */
  readonly rowNumbers: readonly number[];
  /** Where the cursor is. */
  readonly cursor: { readonly row: number; readonly col: number };
  /** Whether the cursor is shown. */
  readonly cursorVisible: boolean;
  /** Size of the terminal. */
  readonly size: TerminalSize;
  /** Window title; `null` if none was set. */
  readonly title: string | null;
  /** Whether a full-screen program is up. */
  readonly alternateScreen: boolean;
  /** Lines above the screen, as many as were asked for, oldest first. */
  readonly scrollback: readonly string[];
  /** How many lines there are above the screen. */
  readonly scrollbackLines: number;
  /** Number of what is seen here, for the `since` of the next call; it grows with every change that is seen. */
  readonly revision: number;
  /** Bytes of older output that were no longer held, so that what they drew is missing if it was not drawn again. */
  readonly missingBytes: number;
  /** What ended the wait. */
  readonly wokenBy: WokenBy;
  /** Whether the program waits for input. */
  readonly waitingForInput: boolean;
  /** How that is known. */
  readonly evidence: InputEvidence | null;
}

/** Shows the screen, waiting for what `until` says. */
export async function screen(
  { runtime, settings }: ProcessContext,
  session: Session,
  params: SessionParams,
  { signal }: ProcessOptions,
): Promise<ProcessAnswer<ScreenDetails>> {
  const { until, since = 0 } = params;
  if (!session.facts.pty) {
    return notPossible(
      `Cannot show the screen of session "${session.id}": it has no terminal. Start it with pty: true, or read its ` +
        "output with poll or log",
    );
  }
  // The host reads only between two turns: what has been printed by now belongs on the screen
  if (session.state.kind === "running") await pause(session.clock, 0, signal);
  const shown = await screenOf(session);
  const timeoutMs = waitMs(params);
  const { inputWaitIdleMs } = settings;
  const wokenBy = await waitForScreen(
    { session, screen: shown, runtime, inputWaitIdleMs, timeoutMs, signal },
    until,
    since,
  );
  const wait = await inputWait(session, inputWaitIdleMs);
  if (session.state.kind === "ended") await drawn(shown); // who tells the end shows all that was printed before it
  const details = detailsOf(session, shown, params, wokenBy, wait.waiting, wait.evidence ?? null);
  const hint = inputHint(session, wait);
  const inVain = wokenBy === "timeout" && timeoutMs > 0 ? `waited ${seconds(timeoutMs)} in vain` : undefined;
  const waited = until === undefined ? inVain : waitSentence(until, wokenBy, timeoutMs);
  const lines = [
    fitHeadAndTail(pictureOf(details, params.since !== undefined), settings.maxResultChars).text,
    `[${[...aboutScreen(details), statusText(session) + toldBefore(details.notified)].join("; ")}]`,
    ...(waited === undefined ? [] : [`[${waited}]`]),
    ...(isPatchy(details) ? [`[${details.missingBytes} older bytes are not held: what they drew may be missing]`] : []),
    ...(hint === undefined ? [] : [`[${hint}]`]),
  ];
  return { text: lines.join("\n"), details, isError: false };
}

function detailsOf(
  session: Session,
  screen: SessionScreen,
  { since, scrollback = 0 }: SessionParams,
  wokenBy: WokenBy,
  waitingForInput: boolean,
  evidence: InputEvidence | null,
): ScreenDetails {
  const { frame, revision, changedSince } = screen.look();
  const { rows, ...rest } = frame;
  const rowNumbers = since === undefined ? [...rows.keys()] : changedSince(since);
  return {
    ...statusOf(session),
    notified: wasNotified(session),
    rows: rowNumbers.map((row) => rows[row] ?? ""),
    rowNumbers,
    ...rest,
    size: sizeAt(session.sizes, Infinity) ?? { cols: 0, rows: rows.length },
    scrollback: screen.scrollback(scrollback),
    revision,
    missingBytes: screen.missingBytes,
    wokenBy,
    waitingForInput,
    evidence,
  };
}

/** The rows as text: all but the blank ones at the end, or the changed ones with their numbers. */
function pictureOf({ rows, rowNumbers, scrollback }: ScreenDetails, isPart: boolean): string {
  if (isPart) {
    const numbered = rows.map((row, index) => `${rowNumbers[index]}| ${row}`.trimEnd());
    return [...scrollback, ...(numbered.length === 0 ? ["(no row has changed)"] : numbered)].join("\n");
  }
  const used = rows.findLastIndex((row) => row !== "") + 1;
  return used === 0 && scrollback.length === 0 ? "(blank screen)" : [...scrollback, ...rows.slice(0, used)].join("\n");
}

function aboutScreen(details: ScreenDetails): readonly string[] {
  const { size, cursor, cursorVisible, title, alternateScreen, scrollback, scrollbackLines, revision } = details;
  const above = scrollbackLines - scrollback.length;
  return [
    `screen ${size.cols}x${size.rows}`,
    `cursor row ${cursor.row} col ${cursor.col}${cursorVisible ? "" : " (hidden)"}`,
    ...(title === null ? [] : [`title ${JSON.stringify(title)}`]),
    ...(alternateScreen ? ["alternate screen"] : []),
    ...(above === 0 ? [] : [`${above} more lines above (scrollback)`]),
    `revision ${revision}`,
  ];
}

/** Whether something may be missing on the screen itself: nothing is if all of it has scrolled by since. */
function isPatchy({ missingBytes, alternateScreen, scrollbackLines }: ScreenDetails): boolean {
  return missingBytes > 0 && (alternateScreen || scrollbackLines === 0);
}
