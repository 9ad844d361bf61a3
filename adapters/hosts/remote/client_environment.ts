/**
 * What the programs that reach other machines are run with.
 *
 * @module
 */
import process from "node:process";
import { missingFlags, notAllowed } from "../../deno/permissions.ts";

/** Names that are not for another machine (ssh sends the locale, as most systems have it configured), and our own. */
const KEPT_HERE = /^(?:LANG|LANGUAGE|LC_.*|OFFSTAGE_.*|OPENCLAW_SHELL)$/;

/**
 * The environment of this process for its client: keys, agents and configuration are found by it.
 *
 * @throws {OffstageError} `refused` if Deno has not been allowed to read it, or to start the client
 */
export function clientEnvironment(): Readonly<Record<string, string>> {
  if ("Deno" in globalThis) {
    // It would ask the user for what is missing, in the middle of a start
    const flags = missingFlags([{ name: "run" }, { name: "read" }, { name: "write" }, { name: "env" }]);
    if (flags !== "") throw notAllowed("reach another machine", flags);
  }
  return Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) =>
      value === undefined || KEPT_HERE.test(name) ? [] : [[name, value]]
    ),
  );
}
