/**
 * Which nodes there are.
 *
 * @module
 */
import type { NodeInfo } from "../../../mod.ts";
import { labelText } from "../nodes.ts";
import { type Finding, missing, ok, problem } from "./finding.ts";

/** Asks for the nodes. */
export type AskNodes = () => Promise<readonly NodeInfo[]>;

/** That there is none is told as something that is missing, that nobody answers as a problem. */
export async function lookAtNodes(ask: AskNodes): Promise<Finding> {
  try {
    const nodes = await ask();
    const told = nodes.map(inWords).join(", ");
    return nodes.some(({ state }) => state === "online") ? ok("nodes", told) : missing("nodes", told || "none");
  } catch (error) {
    return problem("nodes", (error as Error).message);
  }
}

function inWords({ id, state, labels }: NodeInfo): string {
  const words = [...(state === "lost" ? ["lost"] : []), ...(Object.keys(labels).length > 0 ? [labelText(labels)] : [])];
  return words.length === 0 ? id : `${id} (${words.join(", ")})`;
}
