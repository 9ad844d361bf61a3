/**
 * Who calls: the scope of the token, and what that scope may reach.
 *
 * @module
 */
import type { Context, Hono } from "hono";
import type { Agent } from "../../mod.ts";
import { HttpError } from "./errors.ts";

/** The caller of one request, known by its token. */
export interface Caller {
  /** The scope it acts in: the token's, or the one that an admin has named; `*` is the admin himself. */
  readonly scope: string;
  /** Whether the token is the admin's. */
  readonly admin: boolean;
  /** The tools, sessions and events it may reach: `offstage.admin` for the scope `*`, else the scope's own. */
  readonly agent: Agent;
}

/** What Hono carries from the authentication to the routes. */
export interface AppEnv {
  readonly Variables: {
    /** Who calls; set once the token has been checked. */
    readonly caller: Caller;
    /** Where the request comes from, if that is known. */
    readonly address: string | undefined;
  };
}

/** The app inside: what routes are added to. */
export type App = Hono<AppEnv>;

/** A request of this app. */
export type AppContext = Context<AppEnv>;

/** Refuses whoever is not the admin. */
export function onlyAdmin({ admin }: Caller): void {
  if (admin) return;
  throw new HttpError(403, "admin-only", "Only the admin may do that", "Use a token of the scope *");
}
