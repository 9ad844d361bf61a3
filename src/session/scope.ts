/**
 * Who sees whose sessions (spec S2).
 *
 * @module
 */

/** The scope of the admin view, which sees the sessions of every scope. No agent can be called that. */
export const ALL_SCOPES = "*";

/** Whether who asks in `scope` sees what belongs to `owner`. */
export function sees(scope: string, owner: string): boolean {
  return scope === owner || scope === ALL_SCOPES;
}
