/**
 * A directory of nodes that are configured by name and are always there.
 *
 * @module
 */
import type { Spawner } from "../runtime.ts";
import { chooseNode } from "./choose_node.ts";
import type { ChosenNode, NodeDirectory, NodeInfo } from "./nodes.ts";

/**
 * Makes the directory of a map. Every scope may use every node, and none has labels.
 *
 * @param spawners what runs commands there, by name
 * @param running how many commands run on a node now
 */
export function nodeMap(
  spawners: ReadonlyMap<string, Spawner>,
  running: (id: string) => number,
): NodeDirectory {
  const names = [...spawners.keys()];
  let order = names; // whoever was chosen last is last, so that calls at the same time are spread

  const infoOf = (id: string): NodeInfo => ({ id, state: "online", labels: {}, running: running(id) });

  function choose(node: string | undefined): ChosenNode {
    const { id } = chooseNode(order.map(infoOf), node);
    order = [...order.filter((other) => other !== id), id];
    return { name: id, spawner: spawners.get(id) as Spawner };
  }

  return {
    list: () => Promise.resolve(names.map(infoOf)),
    choose: (node) => new Promise((resolve) => resolve(choose(node))), // what it throws rejects
    close: () => Promise.resolve(),
  };
}
