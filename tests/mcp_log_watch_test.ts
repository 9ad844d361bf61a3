/**
 * The subscriptions of an MCP client to the logs of sessions.
 *
 * @module
 */
import { assertEquals } from "@std/assert";
import { test } from "node:test";
import { watchLogs } from "../adapters/mcp/log_watch.ts";
import { background, open } from "./fakes/bench.ts";

/** More than a connection may have at the same time. */
const MANY = 300;

/** Far more than it takes, ms. */
const BOUND_MS = 15_000;

test("subscriptions to logs that there are not, or no more, take no room from others", async () => {
  const bench = open();
  let told = (_: string): void => {};
  const watch = watchLogs(bench.agent, { updated: (uri) => told(uri), listChanged: () => {} });
  const uriOf = (id: string): string => `offstage://sessions/${id}/log`;
  for (let index = 0; index < MANY; index++) watch.open(index, [uriOf(`amber-otter-${index}`)]);
  const first = await background(bench);
  for (let index = 0; index < MANY; index++) watch.open(index, [uriOf(first.id)]);
  first.child.end(0);
  await bench.agent.process({ action: "remove", sessionId: first.id });
  const second = await background(bench);
  watch.open("second", [uriOf(second.id)]);
  let bound: ReturnType<typeof setTimeout> | undefined; // keeps the host alive too: the watch's own timers do not
  const updated = new Promise<string>((resolve, reject) => {
    told = resolve;
    bound = setTimeout(() => reject(new Error("told of nothing")), BOUND_MS);
  });
  second.child.print("up\n");
  assertEquals(await updated.finally(() => clearTimeout(bound)), uriOf(second.id));
  watch.stop();
});
