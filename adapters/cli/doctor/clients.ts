/**
 * What other machines and containers are reached by.
 *
 * @module
 */
import process from "node:process";
import { findProgram } from "../../node/programs.ts";
import { type Finding, missing, ok } from "./finding.ts";

/** What `ssh` and `container` run. */
const CLIENTS: readonly string[] = ["ssh", "docker", "podman", "kubectl"];

/** They are only looked for: whether they reach anything depends on what they are asked for. */
export function lookAtClients(): readonly Finding[] {
  const found = CLIENTS.filter((name) => findProgram(name, process.env.PATH, "/") !== undefined);
  return [found.length > 0 ? ok("other hosts", `by ${found.join(", ")}`) : missing("other hosts", "no client is here")];
}
