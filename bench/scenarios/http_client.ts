/**
 * A client for one call after the other on one connection, which does as little as possible: what is measured is the
 * server.
 *
 * @module
 */
import { connect } from "node:net";

/** Posts JSON and gives the answer's. */
export type Post = (body: object) => Promise<unknown>;

/** Makes a client for one route. Its server answers with `Content-Length`, and in ASCII. */
export function createClient(url: string, token: string): Post {
  const { hostname, port, host, pathname } = new URL(url);
  const socket = connect(Number(port), hostname).setNoDelay(true).setEncoding("latin1");
  let received = "";
  let settle: { readonly resolve: (answer: unknown) => void; readonly reject: (error: Error) => void } | undefined;
  socket.on("error", (error) => settle?.reject(error));
  socket.on("data", (text: string) => {
    received += text;
    const [head = "", body = ""] = received.split("\r\n\r\n");
    const [, length] = /^content-length: (\d+)/mi.exec(head) ?? [];
    if (body.length < Number(length ?? Infinity)) return;
    received = "";
    if (head.startsWith("HTTP/1.1 200 ")) settle?.resolve(JSON.parse(body));
    else settle?.reject(new Error(head));
  });
  const fixed = `POST ${pathname} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${token}\r\n` +
    "Content-Type: application/json\r\n";
  return (body) =>
    new Promise((resolve, reject) => {
      settle = { resolve, reject };
      const text = JSON.stringify(body);
      socket.write(`${fixed}Content-Length: ${text.length}\r\n\r\n${text}`);
    });
}
