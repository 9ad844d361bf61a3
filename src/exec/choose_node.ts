/**
 * Which node a call means: a pure decision.
 *
 * @module
 */
import { OffstageError } from "../errors.ts";
import type { NodeInfo } from "./nodes.ts";

/** The label that `any:<label>` or `any:<label>=<value>` asks for; none with `any`. */
interface Wish {
  readonly label?: string;
  readonly value?: string;
}

/** So many nodes are told of in a refusal: a model has to read it. */
const MOST_TOLD = 20;

/**
 * Finds the node that a call means, as every directory does. Of those that fit `any` it is the one where least runs, the
 * first of several.
 *
 * @param nodes those that the caller may use
 * @param wanted an id, `any`, `any:<label>` or `any:<label>=<value>`; `undefined`: the only one that is online
 * @throws {OffstageError} `invalid`, with a problem of key `node` that says which there are
 *
 * @example
 * ```ts
 * import { chooseNode, type NodeInfo } from "offstage";
 *
 * const nodes: NodeInfo[] = [
 *   { id: "big", state: "online", labels: { gpu: "" }, running: 3 },
 *   { id: "small", state: "online", labels: {}, running: 0 },
 * ];
 * console.log(chooseNode(nodes, "any").id, chooseNode(nodes, "any:gpu").id); // small big
 * ```
 */
export function chooseNode<Node extends NodeInfo>(nodes: readonly Node[], wanted: string | undefined): Node {
  const online = nodes.filter(({ state }) => state === "online");
  if (wanted === undefined) {
    const [only, another] = online;
    if (only === undefined) throw refusal(nodes, "There is no node to run on");
    if (another !== undefined) throw refusal(nodes, "Say which node");
    return only;
  }
  const named = nodes.find(({ id }) => id === wanted);
  if (named?.state === "online") return named;
  if (named !== undefined) throw refusal(nodes, `Node ${JSON.stringify(wanted)} does not answer`);
  const wish = wishIn(wanted);
  if (wish === undefined) throw refusal(nodes, `Node ${JSON.stringify(wanted)} is not known`);
  const [first, ...others] = online.filter((node) => grants(node, wish));
  if (first === undefined) {
    const which = wish.label === undefined ? "" : ` with the label ${wanted.slice("any:".length)}`;
    throw refusal(nodes, `There is no node${which} to run on`);
  }
  return others.reduce((best, node) => node.running < best.running ? node : best, first);
}

function wishIn(wanted: string): Wish | undefined {
  const [all, label, value] = /^any(?::([^=]+)(?:=(.*))?)?$/s.exec(wanted) ?? [];
  if (all === undefined) return undefined;
  return { ...(label !== undefined && { label }), ...(value !== undefined && { value }) };
}

function grants({ labels }: NodeInfo, { label, value }: Wish): boolean {
  if (label === undefined) return true;
  return Object.hasOwn(labels, label) && (value === undefined || labels[label] === value);
}

function refusal(nodes: readonly NodeInfo[], what: string): OffstageError {
  const told = nodes.slice(0, MOST_TOLD).map(inWords);
  const more = nodes.length > MOST_TOLD ? `, and ${nodes.length - MOST_TOLD} more` : "";
  const message = nodes.length === 0 ? `${what}: none is there` : `${what}; there are ${told.join(", ")}${more}`;
  return new OffstageError("invalid", "The command was not run", { problems: [{ key: "node", message }] });
}

function inWords({ id, state, labels }: NodeInfo): string {
  const words = [
    ...(state === "lost" ? ["lost"] : []),
    ...Object.entries(labels).map(([label, value]) => value === "" ? label : `${label}=${value}`),
  ];
  const told = words.length === 0 ? id : `${id} (${words.join(", ")})`;
  return told.replaceAll(/\p{Cc}/gu, "\uFFFD"); // it may have come over a network
}
