/**
 * An error of a socket that the library of NATS does not listen to any more ends nobody's process.
 *
 * @module
 */
import { EventEmitter } from "node:events";
import { NodeTransport } from "@nats-io/transport-node/lib/node_transport.js";
import { assertEquals, assertThrows } from "@std/assert";
import { type SocketOpener, withstandLateErrors } from "../adapters/hosts/nats/late_errors.ts";
import { test } from "./closing.ts";

/** Opens sockets as the library does. */
function opener(): SocketOpener & { new (): { dial(port: number): Promise<EventEmitter> } } {
  return class {
    dial(port: unknown): Promise<EventEmitter> {
      return Promise.resolve(Object.assign(new EventEmitter(), { port }));
    }
  };
}

test("an error after the listeners of a socket were taken away is nobody's", async () => {
  const Opener = opener();
  const bare = await new Opener().dial(1);
  assertThrows(() => bare.emit("error", new Error("late")), Error, "late");
  withstandLateErrors(Opener);
  withstandLateErrors(Opener);
  const socket = await new Opener().dial(4222);
  assertEquals((socket as EventEmitter & { readonly port: number }).port, 4222);
  for (let round = 0; round < 3; round++) {
    const heard: Error[] = [];
    socket.on("error", (error: Error) => heard.push(error));
    socket.emit("error", new Error("early"));
    assertEquals(heard.map(({ message }) => message), ["early"]);
    assertEquals(socket.removeAllListeners(), socket);
    socket.emit("error", new Error("late"));
    assertEquals([heard.length, socket.listenerCount("error")], [1, 1]);
  }
});

test("the library opens its sockets where they are looked for", () => {
  const { dial, startTLS, tlsFirst } = (NodeTransport as unknown as SocketOpener).prototype;
  assertEquals([typeof dial, typeof startTLS, typeof tlsFirst], ["function", "function", "function"]);
});
