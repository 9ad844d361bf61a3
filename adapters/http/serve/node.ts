/**
 * Listening on Node.js.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import type { EventEmitter } from "node:events";
import type { IncomingMessage } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { serve, upgradeWebSocket, type WebSocketServerLike } from "@hono/node-server";
import { WebSocketServer } from "ws";
import { finish, type Listen } from "./server.ts";

/** How long an idle connection is kept, ms: longer than proxies keep theirs, so that it is they who close it. */
const KEEP_ALIVE_MS = 65_000;

/** Largest frame of a client, bytes: more than anybody types or pastes. */
const MAX_FRAME_BYTES = 2 ** 20;

/** Listens with `@hono/node-server` and `ws`. */
export const listen: Listen = (makeApp, { hostname, port }) => {
  const clientAddress = (_: Request, env: unknown): string | undefined =>
    (env as { readonly incoming?: IncomingMessage }).incoming?.socket.remoteAddress;
  const app = makeApp({ upgradeWebSocket, clientAddress });
  const sockets = new WebSocketServer({ noServer: true, maxPayload: MAX_FRAME_BYTES });
  return new Promise((resolve, reject) => {
    const server = serve(
      {
        fetch: app.fetch,
        hostname,
        port,
        serverOptions: { keepAliveTimeout: KEEP_ALIVE_MS, ...{ shouldUpgradeCallback: isWebSocket } },
        websocket: { server: sockets as unknown as WebSocketServerLike },
      },
      (info: AddressInfo) => {
        const close = async (): Promise<void> => {
          const closed = new Promise<void>((done) => void server.close(() => done()));
          await finish(closed);
          for (const socket of sockets.clients) socket.terminate();
          if ("closeAllConnections" in server) server.closeAllConnections();
          await closed;
        };
        resolve({ port: info.port, close });
      },
    );
    server.on("error", reject);
    onlyWebSockets(server);
  });
};

type OnUpgrade = (request: IncomingMessage, socket: Socket, head: Uint8Array) => void;

function isWebSocket({ method, headers }: IncomingMessage): boolean {
  return method === "GET" && headers.upgrade?.toLowerCase() === "websocket";
}

/**
 * For Node 20, which does not know `shouldUpgradeCallback`.
 *
 * Answers requests that offer another upgrade as if they did not: Java's client, and `curl --http2`, offer HTTP/2 with
 * each. Node leaves them to whoever listens for upgrades, so they come in once more without that header.
 */
function onlyWebSockets(server: EventEmitter): void {
  const [upgrade] = server.listeners("upgrade") as OnUpgrade[];
  server.removeAllListeners("upgrade"); // more than one, and none of them would answer an upgrade that is refused
  server.on("upgrade", (...[request, socket, head]: Parameters<OnUpgrade>) => {
    const { method, url, httpVersion, rawHeaders } = request;
    if (isWebSocket(request)) return upgrade?.(request, socket, head);
    let text = `${method} ${url} HTTP/${httpVersion}\r\n`;
    for (let at = 0; at < rawHeaders.length; at += 2) {
      const name = rawHeaders[at] ?? "";
      if (name.toLowerCase() !== "upgrade") text += `${name}: ${rawHeaders[at + 1]}\r\n`;
    }
    socket.unshift(head);
    socket.unshift(Buffer.from(`${text}\r\n`, "latin1"));
    server.emit("connection", socket);
  });
}
