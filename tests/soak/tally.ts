/**
 * What a soak has done, and what it has lost.
 *
 * @module
 */

/** Something that did not come, came wrong, or was left behind. */
export interface Loss {
  /** Number of the operation; the same seed makes it choose the same. `null`: of the whole. */
  readonly op: number | null;
  /** What it did. */
  readonly doing: string;
  /** What was expected and what came instead. */
  readonly what: string;
}

/** The counts of one soak: plain JSON. */
export interface Tally {
  /** Commands that were to be started. */
  commands: number;
  /** Commands that could not be started because of a fault, and said so. */
  refused: number;
  /** Bytes that readers and viewers got and that were compared. */
  bytes: number;
  /** Bytes of which it was told that they were dropped, and that were missing. */
  dropped: number;
  /** Ends that were compared. */
  exits: number;
  /** Ends of which an event told. */
  events: number;
  /** Viewers, by kind. */
  viewers: Record<string, number>;
  /** Operations that came to their end, by kind. */
  lives: Record<string, number>;
  /** Faults, by kind. */
  faults: Record<string, number>;
  /** Heap after each round, once everything has ended, bytes; with the commands up to then. */
  heap: { readonly commands: number; readonly bytes: number }[];
  /** Everything that went wrong. */
  losses: Loss[];
}

/** Nothing has been done yet. */
export function createTally(): Tally {
  return {
    commands: 0,
    refused: 0,
    bytes: 0,
    dropped: 0,
    exits: 0,
    events: 0,
    viewers: {},
    lives: {},
    faults: {},
    heap: [],
    losses: [],
  };
}

/** One more of a kind. */
export function count(counts: Record<string, number>, kind: string, more = 1): void {
  counts[kind] = (counts[kind] ?? 0) + more;
}

/**
 * Bytes by which the heap grows with each command: the line of least squares, of all rounds after the first; 0 if there
 * are too few.
 */
export function slopeOf(heap: Tally["heap"]): number {
  const points = heap.slice(1);
  const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
  const x = mean(points.map(({ commands }) => commands));
  const y = mean(points.map(({ bytes }) => bytes));
  const over = points.reduce((sum, { commands, bytes }) => sum + (commands - x) * (bytes - y), 0);
  const under = points.reduce((sum, { commands }) => sum + (commands - x) ** 2, 0);
  return under === 0 ? 0 : over / under;
}

/** A heap that has grown by less than a tenth, or by less than that, has not grown: caches fill up for a while. */
const HEAP_NOISE_BYTES = 4_000_000;

/**
 * Whether the heap has grown, in words: the least of the last third against the most of the first, the first round left
 * out, for a leak grows with every round. Of a few rounds nothing can be said.
 */
export function growthOf(heap: Tally["heap"]): string | undefined {
  const rounds = heap.slice(1).map(({ bytes }) => bytes);
  const third = Math.floor(rounds.length / 3);
  if (third < 2) return undefined;
  const before = Math.max(...rounds.slice(0, third));
  const after = Math.min(...rounds.slice(-third));
  if (after < Math.max(before * 1.1, before + HEAP_NOISE_BYTES)) return undefined;
  return `it grew from ${before} to ${after} bytes: ${rounds.join(" ")}`;
}
