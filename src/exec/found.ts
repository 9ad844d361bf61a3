/**
 * What is found once for an instance and then holds for most of its commands.
 *
 * @module
 */
import type { Settings } from "../config.ts";
import { createEnvironmentBuilder } from "./environment.ts";
import type { Hosts, PrepareContext } from "./prepare.ts";
import { type Route, routeHost } from "./route.ts";
import type { ExecParams } from "./schema.ts";
import { createShells } from "./shells.ts";

/** The recurring answers of one instance. */
export interface Found {
  /** Chooses the shell of a spawner's host, given this machine's environment. */
  readonly shellFor: ReturnType<typeof createShells>;
  /** Puts a command's environment together. */
  readonly buildEnvironment: ReturnType<typeof createEnvironmentBuilder>;
  /** Of a call that does not say where, and is not elevated. */
  readonly usualRoute: Route;
}

const found = new WeakMap<Settings, Found>(); // no two instances have the same settings

/** What has been found for the instance of a call. */
export function foundFor(context: PrepareContext): Found {
  const { settings, runtime } = context;
  const known = found.get(settings);
  if (known !== undefined) return known;
  const fresh = {
    shellFor: createShells(settings.shell, runtime),
    buildEnvironment: createEnvironmentBuilder(),
    usualRoute: routeFor(context, { elevated: false }),
  };
  found.set(settings, fresh);
  return fresh;
}

/** Whether a call is elevated: it says so, or says nothing of it where that is the default and allowed (spec H3). */
export function isElevated(
  { settings, hosts: { elevated: given }, scope }: PrepareContext,
  { elevated, host }: Pick<ExecParams, "elevated" | "host">,
): boolean {
  if (elevated !== undefined || given.default !== true) return elevated === true;
  return given.enabled && !settings.sandboxRequired && host !== "sandbox" && isAllowed(given, scope);
}

/** Where a call that says so, or says nothing, is to run. */
export function routeFor(
  { settings, hosts, scope }: PrepareContext,
  { host, node, elevated }: Pick<ExecParams, "host" | "node"> & { readonly elevated: boolean },
): Route {
  return routeHost({
    configured: settings.host,
    requested: host,
    node,
    elevated,
    sandboxAvailable: hosts.sandbox !== undefined,
    sandboxRequired: settings.sandboxRequired,
    nodesAvailable: hosts.nodes !== undefined,
    elevatedEnabled: hosts.elevated.enabled,
    elevatedAllowed: elevated && isAllowed(hosts.elevated, scope),
  });
}

/** A policy that fails has allowed nothing. */
function isAllowed({ allowed }: Hosts["elevated"], scope: string): boolean {
  try {
    return allowed(scope) === true;
  } catch {
    return false;
  }
}
