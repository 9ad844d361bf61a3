/**
 * Operations about what commands are sent: input of every kind, and nobody there to take it.
 *
 * @module
 */
import { setTimeout as sleep } from "node:timers/promises";
import { assert, assertEquals } from "@std/assert";
import { createFollower, createPoller, truthOf } from "./oracle.ts";
import { FOREVER, type Life } from "./output_lives.ts";
import {
  compareEnd,
  endBy,
  exited,
  fault,
  inBackground,
  partWith,
  type Stage,
  stoppedFor,
  untilTrue,
} from "./stage.ts";
import { addViewer } from "./viewers.ts";

const decoder = new TextDecoder();

/** Lines of the pool, at most so many bytes. */
function someText({ random, world: { pool } }: Stage, most: number): Uint8Array {
  const first = random.below(pool.lineStarts.length - 20_000);
  const from = pool.lineStarts[first] ?? 0;
  const limit = from + 1 + random.below(most);
  const to = pool.lineStarts.findLast((start) => start <= limit) ?? from;
  return pool.text.subarray(from, Math.max(to, pool.lineStarts[first + 1] ?? 0));
}

function base64Of(bytes: Uint8Array): string {
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary);
}

/** Writes all of it, going on from where it was not taken. */
async function writeAll(stage: Stage, sessionId: string, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) {
    const piece = bytes.subarray(at, at + 1 + stage.random.below(400_000));
    const { details, text } = await stage.call({ action: "write", sessionId, base64: base64Of(piece) });
    assert("accepted" in details, text);
    assertEquals(details.accepted + details.refused, piece.length, text);
    at += details.accepted;
  }
}

/** All of them. */
export const INPUT_LIVES: readonly Life[] = [
  {
    name: "is flooded with input",
    weight: 5,
    live: async (stage) => {
      const { random, world } = stage;
      const binary = random.chance(0.3);
      const bytes = binary ? world.pool.binary.subarray(random.below(1_000)) : someText(stage, 700_000);
      const code = random.below(3);
      const { id, view } = await inBackground(stage, { command: `cat; exit ${code}` });
      const truth = truthOf({ command: "", stdout: bytes, stderr: new Uint8Array(), isText: !binary }, false);
      const viewer = random.chance(0.5) ? addViewer(world, random, view, truth) : undefined;
      const poller = createPoller(stage.call, id, truth, world.tally);
      const writing = writeAll(stage, id, bytes).then(() =>
        stage.call({ action: "write", sessionId: id, data: "", eof: true })
      );
      const [end] = await Promise.all([poller.toEnd(() => 30_000), writing]);
      compareEnd(stage, end, [exited(code)]);
      const seen = await viewer?.done;
      if (seen !== undefined) assertEquals(seen, end);
      await partWith(stage, id);
    },
  },
  {
    name: "does not read its input",
    weight: 1,
    live: async (stage) => {
      const { id } = await inBackground(stage, { command: FOREVER });
      const most = stage.world.pool.text.subarray(0, 300_000);
      const { details, text } = await stage.call({ action: "write", sessionId: id, base64: base64Of(most) });
      assert("accepted" in details, text);
      assert(details.accepted + details.refused === most.length && details.queued <= 1_048_576, text);
      await stage.call({ action: "kill", sessionId: id });
      compareEnd(stage, await endBy(stage, id), stoppedFor("killed"));
      await partWith(stage, id);
    },
  },
  {
    name: "closes its input (EPIPE)",
    weight: 3,
    live: async (stage) => {
      const leaves = stage.random.chance(0.5);
      const command = leaves ? "head -c 10 >/dev/null; exit 6" : "exec 0<&-; echo closed; sleep 0.4; exit 6";
      const { id } = await inBackground(stage, { command });
      fault(stage, "EPIPE");
      let broken = false;
      for (let round = 0; round < 20 && !broken; round++) {
        const { isError, details, text } = await stage.hands.process({
          action: "write",
          sessionId: id,
          base64: base64Of(stage.world.pool.text.subarray(0, 100_000)),
        });
        broken = isError;
        if (isError) assert("reason" in details && details.reason === "not-possible", text);
        else if ("accepted" in details && details.refused > 0) await sleep(5);
      }
      compareEnd(stage, await endBy(stage, id), [exited(6)]);
      await partWith(stage, id);
    },
  },
  {
    name: "lets go of its terminal (EIO)",
    weight: 3,
    live: async (stage) => {
      if (!stage.world.terminals) return;
      const { id, pty } = await inBackground(stage, {
        command: "printf 'bye\\n'; exec 0<&- 1>&- 2>&-; sleep 0.3; exit 5",
        pty: true,
      });
      if (pty) fault(stage, "EIO");
      const poller = createPoller(stage.call, id, truthOf(text("bye\n"), pty), stage.world.tally);
      void stage.hands.process({ action: "write", sessionId: id, data: "x\n" }).catch(() => {});
      void stage.hands.process({ action: "resize", sessionId: id, cols: 90, rows: 20 }).catch(() => {});
      for (;;) {
        const { status, exitCode } = await poller.poll({ timeout: 30_000 }).catch((error) => {
          // What is typed may be echoed before the terminal goes
          if (!/^byte|bytes/.test(String(error))) throw error;
          return { status: "running", exitCode: null };
        });
        if (status === "running") continue;
        assertEquals([status, exitCode], ["completed", 5]);
        stage.world.tally.exits += 1;
        break;
      }
      await partWith(stage, id);
    },
  },
  {
    name: "is typed into",
    weight: 4,
    live: async (stage) => {
      const { world, random, call } = stage;
      if (!world.terminals) return;
      // A terminal echoes; the echo is turned off so that what comes is what the program prints
      const session = await inBackground(stage, {
        command: "stty -echo; echo ready; while IFS= read -r line; do printf '<%s>\\n' \"$line\"; done; exit 4",
        pty: true,
        cols: 80,
        rows: 24,
      });
      if (!session.pty) return await call({ action: "kill", sessionId: session.id }).then(() => {});
      const { id: sessionId, view } = session;
      await untilTrue(() => decoder.decode(bytesOf()).includes("ready"), "it has turned the echo off");
      let expected = "ready\r\n";
      for (let line = 0; line < 1 + random.below(8); line++) {
        const typed = `line ${line} ${"ab c".repeat(random.below(30))}.`;
        const way = random.below(4);
        if (way === 0) await call({ action: "write", sessionId, data: `${typed}\n` });
        else if (way === 1) await call({ action: "send-keys", sessionId, literal: typed, keys: ["Enter"] });
        else {
          await call(
            way === 2 ? { action: "paste", sessionId, text: typed } : { action: "write", sessionId, data: typed },
          );
          await call({ action: "submit", sessionId });
        }
        expected += `<${typed}>\r\n`;
        if (random.chance(0.3)) {
          await call({ action: "resize", sessionId, cols: 20 + random.below(200), rows: 5 + random.below(60) });
        }
        if (random.chance(0.2)) await call({ action: "screen", sessionId });
      }
      await untilTrue(() => view.end >= new TextEncoder().encode(expected).length, "it has answered all lines");
      await call({ action: "send-keys", sessionId, keys: ["C-d"] });
      compareEnd(stage, await endBy(stage, sessionId), [exited(4)]);
      const truth = truthOf(text(expected.replaceAll("\r", "")), true);
      const follower = createFollower(truth, world.tally);
      for (const { at, bytes, stream } of view.read(0)) follower.take(at, bytes, stream);
      assertEquals(follower.position, truth.total);
      await partWith(stage, sessionId);

      function bytesOf(): Uint8Array {
        return Uint8Array.from(view.read(0).flatMap(({ bytes }) => [...bytes]));
      }
    },
  },
];

function text(of: string): Parameters<typeof truthOf>[0] {
  return { command: "", stdout: new TextEncoder().encode(of), stderr: new Uint8Array(), isText: true };
}
