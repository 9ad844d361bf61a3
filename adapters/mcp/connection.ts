/**
 * A lasting connection with one instance: that client is told of changes by itself.
 *
 * @module
 */
import type { McpServer } from "@modelcontextprotocol/server";
import { type InstanceOptions, makeInstance } from "./instance.ts";
import { type LogWatch, watchLogs } from "./log_watch.ts";

/** An instance and what its client wants to hear of. */
export interface Connection {
  /** The instance; to be connected to a transport. */
  readonly server: McpServer;
  /** The client's subscriptions; they end with the connection. */
  readonly logs: LogWatch;
}

/** Makes an instance that tells its client of other sessions, and of the logs it has subscribed to. */
export function makeConnection(options: InstanceOptions): Connection {
  const server = makeInstance(options);
  const { server: protocol } = server;
  const logs = watchLogs(options.agent, {
    updated: (uri) => protocol.sendResourceUpdated({ uri }),
    listChanged: () => protocol.sendResourceListChanged(),
  });
  protocol.setRequestHandler("resources/subscribe", ({ params: { uri } }) => {
    logs.open(uri, [uri]);
    return {};
  });
  protocol.setRequestHandler("resources/unsubscribe", ({ params: { uri } }) => {
    logs.close(uri);
    return {};
  });
  protocol.onclose = logs.stop;
  return { server, logs };
}
