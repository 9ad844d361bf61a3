/**
 * Sessions in words.
 *
 * @module
 */

/** @typedef {import("../../../mod.ts").ListEntry} Entry */

/** @typedef {"running" | "waiting" | "done" | "failed" | "killed"} Tone what a state looks like */

/**
 * A span of time as short as it can be read.
 *
 * @param {number} ms
 */
export function span(ms) {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  if (minutes < 1) return `${seconds}s`;
  if (hours < 1) return `${minutes}m ${two(seconds % 60)}s`;
  if (hours < 24) return `${hours}h ${two(minutes % 60)}m`;
  return `${Math.floor(hours / 24)}d ${hours % 24}h`;
}

/** @param {number} number */
function two(number) {
  return String(number).padStart(2, "0");
}

/**
 * A number of bytes.
 *
 * @param {number} count
 */
export function bytes(count) {
  if (count < 1000) return `${count} B`;
  return count < 1_000_000 ? `${(count / 1000).toFixed(1)} kB` : `${(count / 1_000_000).toFixed(1)} MB`;
}

/**
 * A session's state in a few words, and how to show it.
 *
 * @param {Pick<Entry, "status" | "exitCode" | "signal" | "reason" | "waitingForInput">} entry
 * @returns {{ tone: Tone, words: string }}
 */
export function stateOf({ status, exitCode, signal, reason, waitingForInput }) {
  if (status === "running") {
    return waitingForInput ? { tone: "waiting", words: "waits for input" } : { tone: "running", words: "running" };
  }
  if (reason === "timeout") return { tone: "failed", words: "timed out" };
  if (reason === "spawn-error") return { tone: "failed", words: "not started" };
  if (status === "killed") return { tone: "killed", words: signal === null ? "killed" : `killed, ${signal}` };
  if (signal !== null) return { tone: "failed", words: signal };
  if (exitCode === null) return { tone: status === "completed" ? "done" : "failed", words: "ended" };
  return { tone: exitCode === 0 ? "done" : "failed", words: `exit ${exitCode}` };
}

/**
 * Whether a session is meant by what somebody typed into the filter: every word is in its name, id, state, directory or
 * scope.
 *
 * @param {Entry} entry
 * @param {string} filter
 */
export function matches(entry, filter) {
  const text = [entry.name, entry.sessionId, stateOf(entry).words, entry.cwd, entry.scope].join("\n").toLowerCase();
  return filter.toLowerCase().split(/\s+/).every((word) => text.includes(word));
}
