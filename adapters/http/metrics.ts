/**
 * What is counted while the app serves.
 *
 * @module
 */

/** How somebody looks on: at a session's output, at a scope's events, at a terminal. */
export type ViewerKind = "output" | "events" | "attach";

/** The counters of one app. */
export interface Metrics {
  /**
   * Somebody has begun to look on.
   *
   * @returns to be called when he has gone; safe to call twice
   */
  viewer(kind: ViewerKind): () => void;
  /** A login has failed. */
  loginFailed(): void;
}

/** Makes counters that are all 0. */
export function createMetrics(): Metrics {
  const viewers = new Map<ViewerKind, number>([["output", 0], ["events", 0], ["attach", 0]]);
  let failedLogins = 0;
  const count = (kind: ViewerKind, by: number): void => void viewers.set(kind, (viewers.get(kind) ?? 0) + by);
  return {
    viewer: (kind) => {
      count(kind, 1);
      let watching = true;
      return () => {
        if (watching) count(kind, -1);
        watching = false;
      };
    },
    loginFailed: () => void (failedLogins += 1),
  };
}
