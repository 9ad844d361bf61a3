/**
 * What is shown of a peer.
 *
 * @module
 */
import type { Numbers } from "../scenarios/turns.ts";

/** What is shown of a task. */
export interface TaskFigure {
  readonly task: string;
  readonly name: string;
  readonly value: (peer: Numbers, bare: Numbers) => number;
  /** The baseline does it too, in a process of its own. */
  readonly beside?: true;
}

const of = (numbers: Numbers, key: string): number => numbers[key] ?? NaN;
const ratio = (key: string) => (peer: Numbers, bare: Numbers): number => of(peer, key) / of(bare, key);

/** Names of rows that are drawn. */
export const PEER_ROWS = {
  quick: "`true`: time / bare",
  bulk: "64 MiB of lines: rate / bare",
} as const;

/** Rows of a peer, in their order. */
export const FIGURES: readonly TaskFigure[] = [
  { task: "load", name: "load, ms", value: (peer) => of(peer, "ms") },
  { task: "quick", name: PEER_ROWS.quick, value: ratio("ms") },
  { task: "many", name: "100 × `sleep 1` at once, s", value: (peer) => of(peer, "ms") / 1_000 },
  { task: "bulk", name: PEER_ROWS.bulk, value: ratio("mbPerS"), beside: true },
  {
    task: "bulk",
    name: "64 MiB of lines: peak memory on top of bare, MiB",
    value: (peer, bare) => of(peer, "peakMib") - of(bare, "peakMib"),
    beside: true,
  },
  { task: "quickInTerminal", name: "`true` in a terminal: time / bare", value: ratio("ms") },
  { task: "terminalBulk", name: "8 MiB in a terminal: rate / bare", value: ratio("mbPerS"), beside: true },
  { task: "echo", name: "key → echo in a terminal: p50, ms", value: (peer) => of(peer, "p50Ms") },
  {
    task: "idle",
    name: "idle session: held on top of bare, KiB",
    value: (peer, bare) => of(peer, "heldKib") - of(bare, "heldKib"),
    beside: true,
  },
];
