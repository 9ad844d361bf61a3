/**
 * Bearer tokens, each with its scope.
 *
 * @module
 */
import { createHmac, randomBytes } from "node:crypto";

/** Which token is which scope's; the scope `*` is the admin's. */
export type TokenScopes = ReadonlyMap<string, string>;

/** Tells whose token it is, in a time that tells nothing about the tokens there are. */
export interface TokenTable {
  /** The scope of a token and a name for it by which it cannot be known; `undefined` if there is no such token. */
  find(token: string): { readonly scope: string; readonly digest: string } | undefined;
}

/**
 * Makes the table of tokens.
 *
 * They are looked up by a keyed hash: how long that takes depends on a hash that nobody outside can compute, so it does
 * not help to guess a token piece by piece.
 */
export function createTokenTable(tokens: TokenScopes): TokenTable {
  const key = randomBytes(32);
  const digestOf = (token: string): string => createHmac("sha256", key).update(token).digest("base64");
  const scopes = new Map([...tokens].map(([token, scope]) => [digestOf(token), scope]));
  return {
    find: (token) => {
      const digest = digestOf(token);
      const scope = scopes.get(digest);
      return scope === undefined ? undefined : { scope, digest };
    },
  };
}
