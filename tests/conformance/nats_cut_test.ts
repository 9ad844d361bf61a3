/**
 * A fleet whose connections are cut, or whose server is started anew: nothing is lost, nothing comes twice.
 *
 * @module
 */
import { createHash } from "node:crypto";
import { statSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { assert, assertEquals, assertMatch } from "@std/assert";
import { createOffstage } from "../../adapters/auto.ts";
import { nats, serveNode } from "../../adapters/hosts/nats.ts";
import type { Bench } from "../../adapters/testing/bench.ts";
import { closing, test } from "../closing.ts";
import { background, eventually, poll, processesWith, uniqueSleep } from "./agent.ts";
import { type Fleet, openFleet } from "./fleet.ts";
import { freshFolder, openTestBench, terminal } from "./machine.ts";
import { natsServer, openNatsServer } from "./nats_server.ts";

const CUTS = 4;

/** How a connection is cut, and how it comes back. */
const WAYS: readonly {
  readonly what: string;
  cut(fleet: Fleet): Promise<void> | void;
  mend(fleet: Fleet): Promise<void> | void;
}[] = [
  { what: "the server is started anew", cut: ({ server }) => server.stop(), mend: ({ server }) => server.start() },
  {
    what: "the node's connection is cut",
    cut: ({ nodeLine }) => nodeLine.cut(),
    mend: ({ nodeLine }) => nodeLine.mend(),
  },
  {
    what: "the gateway's connection is cut",
    cut: ({ gatewayLine }) => gatewayLine.cut(),
    mend: ({ gatewayLine }) => gatewayLine.mend(),
  },
];

const sha = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

function numbers(last: number): Uint8Array {
  return new TextEncoder().encode(Array.from({ length: last }, (_, index) => `${index + 1}\n`).join(""));
}

for (const { what, cut, mend } of WAYS) {
  for (const way of ["pipes", "terminal"] as const) {
    const skip = natsServer || (way === "terminal" && terminal);

    test(`output is whole though ${what} while it comes, ${way}`, { skip }, async () => {
      const fleet = await openFleet();
      const bench: Bench = closing(openTestBench(fleet.spawner, way));
      const last = way === "pipes" ? 3_000_000 : 400_000;
      const wanted = numbers(last);
      const run = await bench.sh(`${way === "terminal" ? "stty raw -echo; " : ""}seq ${last}; exit 7`);
      const came = (): number => run.chunks.reduce((sum, { length }) => sum + length, 0);
      for (let round = 1; round <= CUTS; round++) {
        const share = (wanted.length / (CUTS + 1)) * round;
        await bench.until(() => came() >= share, `${Math.round(share)} bytes`);
        await cut(fleet);
        await sleep(100 * round); // so that more is printed meanwhile
        await mend(fleet);
      }
      assertEquals(await run.finish(), { code: 7 });
      assertEquals([run.bytes().length, sha(run.bytes())], [wanted.length, sha(wanted)]);
    });

    test(`input is taken once though ${what} while it is written, ${way}`, { skip }, async () => {
      const fleet = await openFleet();
      const bench: Bench = closing(openTestBench(fleet.spawner, way));
      const input = numbers(way === "pipes" ? 400_000 : 60_000);
      const run = await bench.sh(
        `${way === "terminal" ? "stty raw -echo; " : ""}echo up; head -c ${input.length} | sha256sum`,
        { stdin: "open" },
      );
      await run.seen("up\n");
      const pieces = CUTS * 8;
      const size = Math.ceil(input.length / pieces);
      const writes: Promise<void>[] = [];
      for (let piece = 0; piece < pieces; piece++) {
        if (piece % 8 === 4) await cut(fleet);
        writes.push(run.write(input.subarray(piece * size, (piece + 1) * size)));
        if (piece % 8 === 6) await mend(fleet);
        await sleep(20); // so that some of it is under way
      }
      await Promise.all(writes);
      assertEquals(await run.finish(), { code: 0 });
      assertEquals(run.text().match(/[0-9a-f]{64}/)?.[0], sha(input));
    });
  }

  test(`signals are delivered once though ${what}`, { skip: natsServer }, async () => {
    const fleet = await openFleet();
    const bench: Bench = closing(openTestBench(fleet.spawner, "pipes"));
    const run = await bench.sh(
      "trap 'echo one' USR1; trap 'echo two; exit 4' USR2; echo up; while :; do sleep 0.02; done",
    );
    await run.seen("up\n");
    await cut(fleet);
    assertEquals(run.child.signal("SIGUSR1", "child"), "sent");
    await mend(fleet);
    await run.seen("one\n");
    await cut(fleet);
    await mend(fleet);
    assertEquals(run.child.signal("SIGUSR2", "child"), "sent");
    assertEquals(await run.finish(), { code: 4 });
    assertEquals(run.text(), "up\none\ntwo\n");
  });

  test(`an end while ${what} is told afterwards`, { skip: natsServer }, async () => {
    const fleet = await openFleet();
    const bench: Bench = closing(openTestBench(fleet.spawner, "pipes"));
    const folder = closing(await freshFolder());
    const run = await bench.sh(
      `echo up; until [ -e ${folder.path}/go ]; do sleep 0.02; done; echo end; touch ${folder.path}/gone; exit 9`,
    );
    await run.seen("up\n");
    await cut(fleet);
    await mend(fleet);
    const go = await bench.start(["touch", `${folder.path}/go`]);
    assertEquals(await go.finish(), { code: 0 });
    assertEquals(await run.finish(), { code: 9 });
    assertEquals(run.text(), "up\nend\n");
  });
}

for (const way of ["pipes", "terminal"] as const) {
  test(`a command whose gateway takes nothing has to wait, and goes on, ${way}`, {
    skip: natsServer || (way === "terminal" && terminal),
  }, async () => {
    const fleet = await openFleet();
    const bench: Bench = closing(openTestBench(fleet.spawner, way));
    const folder = closing(await freshFolder());
    const counter = `${folder.path}/counter`;
    const run = await bench.sh(
      `${way === "terminal" ? "stty raw -echo; " : ""}i=0; while [ $i -lt 400 ]; do ` +
        `head -c 65536 /dev/zero; i=$((i+1)); printf . >>${counter}; done`,
    );
    await bench.until(() => run.chunks.length > 0, "output");
    fleet.gatewayLine.cut();
    // One byte a round: it may be stopped anywhere, also where a file that it writes anew is empty
    const count = (): number => statSync(counter, { throwIfNoEntry: false })?.size ?? 0;
    let before = -1;
    const stands = async (): Promise<boolean> => {
      before = count();
      await sleep(1_000); // a busy machine may take that long for one round
      return before > 0 && count() === before;
    };
    await eventually(stands, "it has to wait");
    const kept = before * 65_536 - run.bytes().length;
    fleet.gatewayLine.mend();
    assertEquals(await run.finish(), { code: 0 });
    assertEquals(run.bytes().length, 400 * 65_536);
    assert(before < 400 && kept < 8 * 1_048_576, `${before} rounds, ${kept} bytes kept`);
  });
}

test("a server that passes small messages on only costs nothing: input, and the end of many processes", {
  skip: natsServer,
}, async () => {
  const server = closing(await openNatsServer("max_payload: 1024"));
  closing(await serveNode({ url: server.url, id: "builder-1", graceMs: 500 }));
  const offstage = createOffstage({ nodes: nats({ url: server.url }), tools: { exec: { host: "node" } } });
  const { agent } = closing({ agent: offstage.agent("tester"), [Symbol.asyncDispose]: () => offstage.close() });
  const { id } = await background(agent, { command: "wc -c", stdin: "open" });
  await agent.process({ action: "write", sessionId: id, data: "x".repeat(100_000), eof: true });
  assertMatch((await poll(agent, id, { until: "exit", timeout: 30_000 })).text, /^100000\n/);
  const sleep = uniqueSleep();
  const many = await background(agent, { command: `for i in $(seq 40); do setsid ${sleep} & done; wait` });
  await eventually(() => processesWith(sleep).length >= 40, "all of them run");
  const killed = await agent.process({ action: "kill", sessionId: many.id, wait: 30_000 });
  assertEquals([killed.isError, processesWith(sleep).length], [false, 0], killed.text);
});
