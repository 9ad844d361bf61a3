/**
 * How a shell reports on the limits it was to set: what is in its script, and is looked for in its output.
 *
 * @module
 */

/**
 * Begins a report: an application's own sequence, which a terminal does not show. After it come, each after a space, the
 * names of the limits that could not be set, and perhaps {@linkcode AS_ROOT}.
 */
export const REPORT_START = "\x1b_offstage-limits";

/** Ends a report. */
export const REPORT_END = "\x1b\\";

/** The word for a command that runs as root, whom the kernel does not hold to a number of processes. */
export const AS_ROOT = "as-root";
