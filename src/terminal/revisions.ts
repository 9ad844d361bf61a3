/**
 * Numbers what is seen on a screen, so that somebody who has seen a part of it can be told the rest.
 *
 * @module
 */
import type { Frame } from "./screen.ts";

/** One look at a screen. */
export interface Look {
  /** What is on it. */
  readonly frame: Frame;
  /** Grows by one whenever the screen is not what it was at the look before; 1 at the first. */
  readonly revision: number;
  /** Numbers of the rows that are not what they were at that revision; every row if there was none such. */
  changedSince(revision: number): readonly number[];
}

/** Takes looks in their order. */
export function createRevisions(): (frame: Frame) => Look {
  let seen: Frame | undefined;
  let revision = 0;
  let rowRevisions: readonly number[] = [];

  return (frame) => {
    if (seen === undefined || !sameFrame(seen, frame)) {
      revision += 1;
      rowRevisions = frame.rows.map((row, index) => row === seen?.rows[index] ? rowRevisions[index] ?? 0 : revision);
      seen = frame;
    }
    const [current, revisions] = [revision, rowRevisions];
    return {
      frame,
      revision: current,
      changedSince: (since) => [...frame.rows.keys()].filter((row) => since > current || (revisions[row] ?? 0) > since),
    };
  };
}

/** Whether a person would see no difference. */
function sameFrame(one: Frame, other: Frame): boolean {
  return one.cursor.row === other.cursor.row && one.cursor.col === other.cursor.col &&
    one.cursorVisible === other.cursorVisible && one.title === other.title &&
    one.alternateScreen === other.alternateScreen && one.rows.length === other.rows.length &&
    one.rows.every((row, index) => row === other.rows[index]);
}
