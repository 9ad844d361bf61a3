/**
 * Logins: from a token to its caller, with a wait for those who guess.
 *
 * @module
 */
import type { MiddlewareHandler } from "hono";
import { type Offstage, OffstageError } from "../../mod.ts";
import type { AppContext, AppEnv, Caller } from "./caller.ts";
import { HttpError, invalid } from "./errors.ts";
import { createThrottle } from "./throttle.ts";
import { createTokenTable, type TokenScopes } from "./tokens.ts";

/** Lets callers in. */
export interface Logins {
  /**
   * Who calls with that token.
   *
   * @param token what he has given; none is a failure too, but not a guess
   * @throws {HttpError} 401 if it is nobody's, 429 after too many of these from the same address, 403 and 422 if he names
   *   a scope that he cannot act in
   */
  callerOf(c: AppContext, token: string | undefined): Caller;
  /** The same for a token that comes later: what has to be known of the request is read now, while it can be. */
  later(c: AppContext): (token: string | undefined) => Caller;
}

/** What logins need. */
export interface LoginOptions {
  /** The instance. */
  readonly offstage: Offstage;
  /** Which token is which scope's. */
  readonly tokens: TokenScopes;
  /** Called after each failure. */
  readonly onFailure: () => void;
}

/** Pairs of address and token that are remembered. */
const MOST_KNOWN = 10_000;

/**
 * Makes the logins of an instance.
 *
 * @throws {OffstageError} `invalid` if a scope is blank
 */
export function createLogins({ offstage, tokens, onFailure }: LoginOptions): Logins {
  const table = createTokenTable(tokens);
  const throttle = createThrottle();
  const own = new Map([...tokens.values()].map((scope) => [scope, callerIn(scope, scope === "*")]));
  // Tokens that were right where they came from: behind a proxy everybody has one address, and who guesses must not be
  // able to lock out the others
  const known = new Set<string>();

  function callerIn(scope: string, admin: boolean): Caller {
    return { scope, admin, agent: scope === "*" ? offstage.admin : offstage.agent(scope) };
  }

  function scopeOf(address: string, token: string | undefined): string {
    const found = token === undefined ? undefined : table.find(token);
    const pair = `${address} ${found?.digest}`;
    if (known.has(pair) && found !== undefined) return found.scope;
    const seconds = throttle.waitSeconds(address);
    if (seconds > 0) {
      throw new HttpError(429, "throttled", "Too many failed logins from your address", `Wait ${seconds} s`, {
        headers: { "retry-after": `${seconds}` },
      });
    }
    if (found === undefined) {
      onFailure();
      if (token !== undefined) throttle.failed(address);
      throw new HttpError(401, "unauthorized", "No valid token", "Send Authorization: Bearer <token>", {
        headers: { "www-authenticate": "Bearer" },
      });
    }
    known.add(pair);
    const [oldest] = known;
    if (known.size > MOST_KNOWN && oldest !== undefined) known.delete(oldest);
    return found.scope;
  }

  function later(c: AppContext): (token: string | undefined) => Caller {
    const address = c.get("address") ?? "unknown";
    const named = c.req.header("offstage-scope");
    return (token) => {
      const caller = own.get(scopeOf(address, token)) as Caller;
      const scope = named ?? caller.scope;
      if (scope === caller.scope) return caller;
      if (!caller.admin) {
        throw new HttpError(403, "admin-only", "Only the admin may act in another scope", "Leave Offstage-Scope out");
      }
      try {
        return callerIn(scope, true);
      } catch (error) {
        if (error instanceof OffstageError) throw invalid([{ key: "Offstage-Scope", message: error.message }]);
        throw error;
      }
    };
  }

  return { callerOf: (c, token) => later(c)(token), later };
}

/** The token of the header `Authorization: Bearer <token>`. */
export function bearerToken(c: AppContext): string | undefined {
  const [, token] = /^bearer +(\S+) *$/i.exec(c.req.header("authorization") ?? "") ?? [];
  return token;
}

/** Lets nobody pass without a token. */
export function authenticate(logins: Logins): MiddlewareHandler<AppEnv> {
  return async (c, next) => {
    c.set("caller", logins.callerOf(c, bearerToken(c)));
    await next();
  };
}
