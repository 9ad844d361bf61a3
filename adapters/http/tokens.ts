/**
 * Bearer tokens, each with its scope.
 *
 * @module
 */
import type { MiddlewareHandler } from "hono";
import type { Offstage } from "../../mod.ts";
import type { AppEnv, Caller } from "./caller.ts";
import { HttpError } from "./errors.ts";

/** Which token is which scope's; the scope `*` is the admin's. */
export type TokenScopes = ReadonlyMap<string, string>;

/** Who calls with that token, if anybody. */
export function callerOf(offstage: Offstage, tokens: TokenScopes, token: string): Caller | undefined {
  const scope = tokens.get(token);
  if (scope === undefined) return undefined;
  const admin = scope === "*";
  return { scope, admin, agent: admin ? offstage.admin : offstage.agent(scope) };
}

/** Lets nobody pass without a token. */
export function authenticate(offstage: Offstage, tokens: TokenScopes): MiddlewareHandler<AppEnv> {
  return async (c, next) => {
    const [scheme, token = ""] = (c.req.header("authorization") ?? "").split(" ");
    const caller = scheme?.toLowerCase() === "bearer" ? callerOf(offstage, tokens, token) : undefined;
    if (caller === undefined) {
      throw new HttpError(401, "unauthorized", "No valid token", "Send Authorization: Bearer <token>");
    }
    c.set("caller", caller);
    await next();
  };
}
