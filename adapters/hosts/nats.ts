/**
 * A fleet of machines over NATS: gateways find nodes and run commands on them, from anywhere.
 *
 * Both sides take the package `@nats-io/transport-node`.
 *
 * @module
 */
import type { NodeDirectory } from "../../mod.ts";
import { CONNECTION_OPTIONS, connectionProblems, type NatsConnection } from "./nats/connection.ts";
import { createDirectory } from "./nats/directory.ts";
import { invalidOptions, unknownOptions } from "./options.ts";

export { serveNode } from "./nats/node.ts";
export type { ServedNode } from "./nats/node.ts";
export type { ServeNodeOptions } from "./nats/node_options.ts";
export type { NatsConnection } from "./nats/connection.ts";
export type { NodeDirectory } from "../../mod.ts";

/**
 * The nodes of a fleet, for `createOffstage({ nodes })`: those that `serveNode` or `offstage node` serves on the same
 * servers under the same prefix. They come and go as they like.
 *
 * Commands get what their node's machine says of itself (`PATH`, `HOME`, language), what its owner adds, and the
 * variables of the call; nothing of this process's environment. A connection that is cut for a short time, or a server
 * that is started anew, costs nothing: no byte of output or input is lost or comes twice. A node that is not heard of for
 * its lease (15 seconds by default) is lost: what ran there has failed with the reason `host-lost`. The other way round,
 * a node ends the commands of a gateway that it has not heard of for as long.
 *
 * It connects on first use, and is closed by `close` of the instance.
 *
 * @param options how to reach NATS
 * @throws {OffstageError} `invalid`
 *
 * @example
 * ```ts
 * import { createOffstage } from "offstage/node";
 * import { nats } from "offstage/nats";
 *
 * await using offstage = createOffstage({ nodes: nats({ url: "nats://10.0.0.1:4222" }) });
 * const run = await offstage.agent("agent-1").exec({ command: "nvidia-smi", host: "node", node: "any:gpu" });
 * console.log(run.text);
 * ```
 */
export function nats(options: NatsConnection = {}): NodeDirectory {
  const problems = [...unknownOptions(options, CONNECTION_OPTIONS), ...connectionProblems(options)];
  if (problems.length > 0) throw invalidOptions("Cannot reach a fleet", problems);
  return createDirectory(options);
}
