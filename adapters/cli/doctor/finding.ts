/**
 * What `offstage doctor` has found out, as it is told.
 *
 * @module
 */

/** One thing that was looked at. */
export interface Finding {
  /** What. */
  readonly topic: string;
  /** `ok`; `missing`, something optional is not there; `problem`, something does not work as it is meant to. */
  readonly state: "ok" | "missing" | "problem";
  /** What is so, on one line. */
  readonly text: string;
  /** What to do about it. */
  readonly todo?: string;
}

/** It is as it should be. */
export function ok(topic: string, text: string): Finding {
  return { topic, state: "ok", text };
}

/** Something optional is not there. */
export function missing(topic: string, text: string, todo?: string): Finding {
  return { topic, state: "missing", text, ...(todo !== undefined && { todo }) };
}

/** It does not work. */
export function problem(topic: string, text: string, todo?: string): Finding {
  return { topic, state: "problem", text, ...(todo !== undefined && { todo }) };
}

const MARKS = { problem: "!", missing: "-", ok: " " } as const;

/** Findings as lines for people: what does not work first, then what is missing. */
export function findingLines(findings: readonly Finding[]): readonly string[] {
  const width = Math.max(...findings.map(({ topic }) => topic.length));
  const marks = Object.keys(MARKS) as (keyof typeof MARKS)[];
  const sorted = marks.flatMap((state) => findings.filter((finding) => finding.state === state));
  return sorted.map(({ topic, state, text, todo }) => {
    const line = `${MARKS[state]} ${topic.padEnd(width)}  ${text}${todo === undefined ? "" : `. ${todo}`}`;
    return line.replaceAll(/\s*\n\s*/g, "; ").replaceAll(/\p{Cc}/gu, "\uFFFD"); // labels of nodes come from elsewhere
  });
}
