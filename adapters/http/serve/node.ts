/**
 * Listening on Node.js.
 *
 * @module
 */
import type { AddressInfo } from "node:net";
import { serve, upgradeWebSocket, type WebSocketServerLike } from "@hono/node-server";
import { WebSocketServer } from "ws";
import type { Listen } from "./server.ts";

/** Listens with `@hono/node-server` and `ws`. */
export const listen: Listen = (makeApp, { hostname, port }) => {
  const app = makeApp(upgradeWebSocket);
  const sockets = new WebSocketServer({ noServer: true });
  return new Promise((resolve, reject) => {
    const server = serve(
      { fetch: app.fetch, hostname, port, websocket: { server: sockets as unknown as WebSocketServerLike } },
      (info: AddressInfo) => {
        resolve({
          port: info.port,
          close: () =>
            new Promise((done) => {
              server.close(() => done());
              for (const socket of sockets.clients) socket.terminate();
              if ("closeAllConnections" in server) server.closeAllConnections();
            }),
        });
      },
    );
    server.on("error", reject);
  });
};
