/**
 * Whatever is said on the subjects of a fleet, nobody is harmed by it.
 *
 * @module
 */
import { connect } from "@nats-io/transport-node";
import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { nats, serveNode } from "../../adapters/hosts/nats.ts";
import { createOffstage } from "../../adapters/auto.ts";
import { closing, test } from "../closing.ts";
import { background, kill, pollUntil, runToEnd } from "./agent.ts";
import { natsServer, openNatsServer } from "./nats_server.ts";

const WORDS: readonly string[] = [
  ...["id", "instance", "gateway", "link", "links", "spec", "limit", "what", "name", "op", "rev", "exit", "how", "at"],
  ...[
    "labels",
    "scopes",
    "running",
    "leaseMs",
    "since",
    "applied",
    "settled",
    "isLeft",
    "isUnknown",
    "__proto__",
    "a",
    "tree",
  ],
  ...["builder-1", "signal", "SIGKILL", "child", "code", "lost", "argv", "env", "cwd", "/", "closed", "constructor"],
];

const json = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(...WORDS),
    fc.integer(),
    fc.double(),
    fc.boolean(),
    fc.constant(null),
    fc.string({ maxLength: 20 }),
    fc.array(tie("value"), { maxLength: 5 }),
    fc.dictionary(fc.constantFrom(...WORDS), tie("value"), { maxKeys: 8 }),
  ),
}));

const message = fc.oneof(
  fc.uint8Array({ maxLength: 200 }),
  json.value.map((value) => new TextEncoder().encode(JSON.stringify(value) ?? "")),
  fc.tuple(fc.nat(8), fc.string({ minLength: 1, maxLength: 24 }), fc.double(), fc.uint8Array({ maxLength: 50 })).map(
    ([kind, link, number, payload]) => {
      const id = new TextEncoder().encode(link);
      const bytes = new Uint8Array(2 + id.length + 8 + payload.length);
      bytes.set([kind, id.length]);
      bytes.set(id, 2);
      new DataView(bytes.buffer).setFloat64(2 + id.length, number);
      bytes.set(payload, 10 + id.length);
      return bytes;
    },
  ),
);

test("random messages on every subject harm neither a node nor a gateway", { skip: natsServer }, async () => {
  const { url } = closing(await openNatsServer());
  closing(await serveNode({ url, id: "builder-1" }));
  const offstage = createOffstage({ nodes: nats({ url }), tools: { exec: { host: "node" } } });
  closing({ [Symbol.asyncDispose]: () => offstage.close() });
  const agent = offstage.agent("tester");
  const stranger = await connect({ servers: url });
  closing({ [Symbol.asyncDispose]: () => stranger.close() });
  const heard = new Set<string>();
  for (const subject of ["offstage.>", "_INBOX.>"]) {
    stranger.subscribe(subject, { callback: (_error, { subject }) => void heard.add(subject) });
  }
  const { id } = await background(agent, { command: "echo up; cat", pty: false, stdin: "open" });
  await pollUntil(agent, id, "up");
  const own = [...heard].filter((subject) => !subject.includes("inbox"));
  const subjects = [
    ...new Set([
      ...own,
      "offstage.v1.find",
      ...["hello", "place", "spawn", "look", "frame", "beat"].map((what) => `offstage.v1.node.builder-1.${what}`),
      "offstage.v1.from.builder-1.beat",
      "offstage.v1.from.other.beat",
    ]),
  ];
  const inputs = fc.sample(fc.tuple(fc.constantFrom(...subjects), message, fc.boolean()), 3_000);
  for (const [subject, data, asks] of inputs) {
    stranger.publish(subject, data, asks ? { reply: "offstage.v1.inbox.stranger.1" } : {});
  }
  await stranger.flush();
  assertEquals((await runToEnd(agent, { command: "echo fine", node: "builder-1" })).details.output, "fine\n");
  await agent.process({ action: "write", sessionId: id, data: "still here\n" });
  await pollUntil(agent, id, "still here");
  assertEquals((await kill(agent, id)).confirmed, true);
});
