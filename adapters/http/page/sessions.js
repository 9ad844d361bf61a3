/**
 * The sessions of the token's scope, looked at every now and then.
 *
 * @module
 */
import { ApiError } from "./api.js";

/** @typedef {import("./api.js").Entry} Entry */

/** Between two looks, ms. */
const LOOK_MS = 2_000;
/** The same while nobody sees the page. */
const HIDDEN_LOOK_MS = 15_000;
/** Longest wait after a look that failed, ms: they double from `LOOK_MS`. */
const LONGEST_RETRY_MS = 15_000;

/**
 * @typedef {object} Sessions
 * @property {readonly Entry[]} entries newest start first, as of the last look
 * @property {number} at `performance.now()` of the last look that was answered
 * @property {() => Promise<void>} look looks now
 * @property {() => void} stop
 */

/**
 * Looks until stopped.
 *
 * @param {import("./api.js").Api} api
 * @param {{ changed: (entries: readonly Entry[], before: readonly Entry[]) => void, lost: (error: ApiError, retryMs: number) => void, back: () => void }} listener
 * @returns {Sessions}
 */
export function watchSessions(api, listener) {
  /** @type {readonly Entry[]} */
  let entries = [];
  let at = performance.now();
  let failures = 0;
  let stopped = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  /** @type {Promise<void> | undefined} */
  let looking;

  async function look() {
    clearTimeout(timer);
    const asked = performance.now();
    let wait = document.hidden ? HIDDEN_LOOK_MS : LOOK_MS;
    try {
      const answer = await api.sessions();
      if (stopped) return;
      const before = entries;
      entries = answer;
      at = (asked + performance.now()) / 2;
      if (failures > 0) listener.back();
      failures = 0;
      listener.changed(entries, before);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (stopped) return;
      wait = Math.min(LONGEST_RETRY_MS, LOOK_MS * 2 ** failures++);
      listener.lost(error, wait);
    }
    timer = setTimeout(lookOnce, wait);
  }

  /** One look at a time: who asks meanwhile is told what a look after it finds. */
  function lookOnce() {
    return looking ??= look().finally(() => looking = undefined);
  }

  const seen = () => {
    if (!document.hidden) void lookOnce();
  };
  document.addEventListener("visibilitychange", seen);
  addEventListener("online", seen);
  void lookOnce();

  return {
    get entries() {
      return entries;
    },
    get at() {
      return at;
    },
    look: async () => {
      await looking;
      await lookOnce();
    },
    stop: () => {
      stopped = true;
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", seen);
      removeEventListener("online", seen);
    },
  };
}
