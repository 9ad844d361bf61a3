/**
 * What is known of a session before it starts.
 *
 * @module
 */
import type { Limits } from "../limits.ts";
import type { TerminalSize } from "../runtime.ts";

/** What is known about a session before it starts, and never changes. */
export interface SessionFacts {
  /** Its readable id. */
  readonly id: string;
  /** The agent that owns it. */
  readonly scope: string;
  /** The command's text: for finding twins, never shown. */
  readonly command: string;
  /** Where it runs: `gateway`, `sandbox` or the node's name. */
  readonly host: string;
  /** The node it runs on, if it runs on one. */
  readonly node?: string | undefined;
  /** Its working directory. */
  readonly cwd: string;
  /** The shell's kind, e.g. `bash`. */
  readonly shell: string;
  /** Whether it was given a terminal. */
  readonly pty: boolean;
  /** The terminal's size at the start. */
  readonly terminal: TerminalSize | undefined;
  /** Its stdin as it was started. */
  readonly stdin: "open" | "closed";
  /** Life span in ms; `Infinity` is none. */
  readonly timeoutMs: number;
  /** What it is held to. */
  readonly limits?: Limits | undefined;
  /** Whether its shell reports which of these it could not set. */
  readonly reportsLimits?: boolean;
  /** Whether its end, in the background, is to make an event. */
  readonly notifyOnExit: boolean;
  /** Time after which it is ended if nobody has asked for it, ms; 0 is never. */
  readonly idleEndMs: number;
  /** Whether `exec` answers `running` without waiting, so that it is in the background from its start. */
  readonly background: boolean;
}
