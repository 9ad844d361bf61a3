/**
 * Which gateways a node takes for silent, and what becomes of their commands.
 *
 * @module
 */
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { assertEquals } from "@std/assert";
import { encode } from "../adapters/hosts/nats/checks.ts";
import { encodeFrame } from "../adapters/hosts/nats/frame.ts";
import { createNodeDesk, type NodeDesk } from "../adapters/hosts/nats/node_desk.ts";
import type { Ack, SpawnRequest } from "../adapters/hosts/nats/protocol.ts";
import { createFakeSpawner, type FakeSpawner } from "./fakes/spawner.ts";

const LEASE_MS = 3_000;

/** Of the node's run. */
const INSTANCE = "instance0";

function openDesk(): { readonly desk: NodeDesk; readonly spawner: FakeSpawner } {
  const spawner = createFakeSpawner();
  const desk = createNodeDesk({
    id: "builder-1",
    instance: INSTANCE,
    spawner,
    guard: undefined,
    chunkBytes: 1_024,
    leaseMs: LEASE_MS,
    graceMs: 0,
    environment: (call) => call,
    send: () => {},
    onLoad: () => {},
  });
  return { desk, spawner };
}

function request(gateway: string, link: string): SpawnRequest {
  const spec = { argv: ["sh"], cwd: "/", env: {}, stdin: "closed", sessionId: link, scope: "tester" } as const;
  return { gateway, instance: INSTANCE, link, spec, limit: 1_024 };
}

/** Waits until no more than so many commands run. */
async function running(desk: NodeDesk, most: number): Promise<void> {
  for (const limit = performance.now() + 30_000; desk.running() > most;) {
    if (performance.now() > limit) throw new Error(`${desk.running()} commands run still`);
    await delay(5);
  }
}

/** Ways in which a gateway shows that it lives. */
const SIGNS: Readonly<Record<string, (desk: NodeDesk) => unknown>> = {
  "a beat": (desk) => desk.takeBeat(encode({ gateway: "gateway0", instance: INSTANCE, links: ["link0000"] })),
  "an acknowledgement": (desk) =>
    desk.takeFrame(
      encodeFrame({ kind: "ack", link: "link0000", number: 0, payload: encode<Ack>({ limit: 1_024, rev: 0 }) }),
    ),
  "a question": (desk) => desk.look({ link: "link0000", what: "tree" }),
  "a command": (desk) => desk.spawn(request("gateway0", "link0002")),
};

for (const [name, show] of Object.entries(SIGNS)) {
  test(`host-lost: a gateway that has sent ${name} is not silent, but another one is`, async () => {
    const { desk, spawner } = openDesk();
    await desk.spawn(request("gateway0", "link0000"));
    await desk.spawn(request("gateway1", "link0001"));
    desk.tick(LEASE_MS - 1);
    await show(desk);
    const started = desk.running();
    desk.tick(LEASE_MS - 1);
    await running(desk, started - 1);
    assertEquals(spawner.children.map(({ signals }) => signals.length > 0).slice(0, 2), [false, true]);
    desk.tick(1);
    await running(desk, 0);
    await desk.close();
  });
}
