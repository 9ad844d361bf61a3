/**
 * A fleet on loopback: a server, ways to it that can be cut, a node in this process, and a directory that finds it.
 *
 * @module
 */
import { nats, type ServedNode, serveNode, type ServeNodeOptions } from "../../adapters/hosts/nats.ts";
import type { NodeDirectory, Spawner } from "../../mod.ts";
import { closing } from "../closing.ts";
import { type Line, type NatsServer, openLine, openNatsServer } from "./nats_server.ts";

/** A fleet of one node. */
export interface Fleet {
  /** The server. */
  readonly server: NatsServer;
  /** The node's way to it. */
  readonly nodeLine: Line;
  /** The gateway's way to it. */
  readonly gatewayLine: Line;
  /** The node `builder-1`. */
  readonly node: ServedNode;
  /** The gateway's directory. */
  readonly directory: NodeDirectory;
  /** What runs commands there, for the scope `tester`. */
  readonly spawner: Spawner;
}

/** Opens a fleet, to be closed at the end of the test. */
export async function openFleet(options: Partial<ServeNodeOptions> = {}): Promise<Fleet> {
  const server = closing(await openNatsServer());
  const nodeLine = closing(await openLine(server.port));
  const gatewayLine = closing(await openLine(server.port));
  const node = closing(
    await serveNode({ url: nodeLine.url, id: "builder-1", graceMs: 500, leaseMs: 120_000, ...options }),
  );
  const directory = nats({ url: gatewayLine.url });
  closing({ [Symbol.asyncDispose]: () => directory.close() });
  const { spawner } = await directory.choose("builder-1", "tester");
  return { server, nodeLine, gatewayLine, node, directory, spawner };
}
