/**
 * What there may be more or less of.
 *
 * @module
 */
import { readFileSync } from "node:fs";

/** A thing that there may be more or less of. */
export interface Growth {
  /** What there is so much of, for people. */
  readonly of: string;
  /** Least to most. */
  readonly sizes: readonly number[];
  /** Measured numbers by name, and what they are. `flat`: there is none. */
  readonly curves: Readonly<Record<string, { readonly name: string; readonly flat?: true }>>;
  /** The most of it that the machine has room for. */
  readonly room?: () => { readonly most: number; readonly by: string };
}

const MIB = 2 ** 20;

/** A session has two pipes, and the process that runs a command a descriptor for each. */
const DESCRIPTORS = 3;

/** All growths, by name. */
export const GROWTHS: Readonly<Record<string, Growth>> = {
  output: {
    of: "output of a session, bytes",
    sizes: [1, 16, 256, 1_024, 4_096].map((mebibytes) => mebibytes * MIB),
    curves: { ms: { name: "time, ms" }, peak: { name: "peak memory / bare", flat: true } },
  },
  sessions: {
    of: "idle sessions",
    sizes: [10, 50, 250, 1_000, 2_500, 5_000],
    curves: {
      start: { name: "starting them: time / bare", flat: true },
      heldMib: { name: "memory held, MiB" },
      listMs: { name: "`list`, ms" },
      killMs: { name: "killing them, ms" },
    },
    room: () => {
      const descriptors = Number(/open files +(\d+)/i.exec(readFileSync("/proc/self/limits", "utf8"))?.[1]);
      return { most: Math.floor((descriptors - 100) / DESCRIPTORS), by: "the limit of open files" };
    },
  },
  viewers: {
    of: "viewers of a session over HTTP",
    sizes: [1, 10, 100, 300, 1_000],
    curves: { ms: { name: "256 KiB to each, ms" }, heldMib: { name: "memory held, MiB" } },
  },
  lines: {
    of: "lines held of a session",
    sizes: [1_000, 10_000, 100_000, 1_000_000],
    curves: {
      heldMib: { name: "memory held, MiB" },
      tailMs: { name: "`log` of the last page, ms" },
      middleMs: { name: "`log` of a page in the middle, ms" },
      grepMs: { name: "`log` with `grep` through all, ms" },
    },
  },
};
