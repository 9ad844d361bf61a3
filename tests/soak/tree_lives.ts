/**
 * Operations about what commands leave behind, and commands that cannot be started.
 *
 * @module
 */
import { assert, assertEquals } from "@std/assert";
import type { ExecParams } from "../../mod.ts";
import { endOf } from "../conformance/reader.ts";
import type { Life } from "./output_lives.ts";
import {
  compareEnd,
  exited,
  fault,
  inBackground,
  inForeground,
  killSurely,
  processesOf,
  startOf,
  stoppedFor,
  untilGone,
  untilTrue,
} from "./stage.ts";
import { FAIL_START } from "./world.ts";

/** Ways in which something goes on without the shell that started it. */
const DETACHED: readonly string[] = [
  "sleep 86400 &",
  "nohup sleep 86400 >/dev/null 2>&1 &",
  "setsid sleep 86400 &",
  "(setsid sh -c 'trap \"\" TERM; sleep 86400 & wait; sleep 86400' &);",
];

/** More than fits the arguments and environment of any command, although each one would. */
function tooMuch(): Readonly<Record<string, string>> {
  return Object.fromEntries(Array.from({ length: 70 }, (_, index) => [`BIG_${index}`, "x".repeat(100_000)]));
}

/** All of them. */
export const TREE_LIVES: readonly Life[] = [
  {
    name: "is killed with what it has detached",
    weight: 3,
    live: async (stage) => {
      const { random, call, world } = stage;
      const how = DETACHED[random.below(DETACHED.length)];
      const pty = world.terminals && random.chance(0.2);
      const { id: sessionId, view } = await inBackground(stage, { command: `${how} echo up; sleep 86400`, pty });
      await untilTrue(() => view.end > 0, "it is up");
      compareEnd(stage, await killSurely(stage, sessionId), stoppedFor("killed"));
      assertEquals(await processesOf(sessionId), [], "its tree has ended");
      await call({ action: "remove", sessionId });
    },
  },
  {
    name: "leaves a process behind",
    weight: 3,
    live: async (stage) => {
      const { random, call } = stage;
      const how = random.chance(0.5) ? "sleep 86400 >/dev/null 2>&1 &" : "setsid sleep 86400 &";
      const { sessionId = "", survivors, output, ...rest } = await inForeground(stage, {
        command: `${how} echo up; exit 2`,
      });
      compareEnd(stage, endOf(rest), [exited(2)]);
      assertEquals([output, survivors.length], ["up\n", 1], "it says what lives on");
      if (random.chance(0.5)) {
        compareEnd(stage, await killSurely(stage, sessionId), [exited(2)]);
        assertEquals(await processesOf(sessionId), [], "its tree has ended");
      }
      await call({ action: "remove", sessionId });
      await untilGone(sessionId);
    },
  },
  {
    name: "lets a daemon go",
    weight: 1,
    live: async (stage) => {
      // It has left both group and pipes: nobody's, and it ends by itself
      const { output, ...rest } = await inForeground(stage, {
        command: "setsid sleep 0.5 </dev/null >/dev/null 2>&1 & echo up; exit 1",
      });
      assertEquals(output, "up\n");
      compareEnd(stage, endOf(rest), [exited(1)]);
    },
  },
  {
    name: "cannot be started",
    weight: 3,
    live: async (stage) => {
      const { random, agent } = stage;
      const kinds: readonly { readonly kind: string; readonly params: Partial<ExecParams> }[] = [
        { kind: "ENOMEM", params: { env: { [FAIL_START]: "1" } } },
        { kind: "E2BIG", params: { env: tooMuch() } },
        { kind: "no directory", params: { workdir: "/nonexistent/of/a/soak" } },
      ];
      const { kind, params } = kinds[random.below(kinds.length)] ?? { kind: "", params: {} };
      fault(stage, kind);
      const callee = kind === "E2BIG" ? { ...stage, hands: agent } : stage; // a server takes no request of that size
      const background = random.chance(0.5);
      const pty = stage.world.terminals && random.chance(0.3);
      const { details, isError, text } = await startOf(callee, { command: "echo never", background, pty, ...params });
      assert(
        isError && "message" in details && details.reason === "spawn-error",
        `started in spite of ${kind}: ${text}`,
      );
      assert(
        !agent.sessions().some((view) => view.tail(50).includes("never")),
        "nothing is kept",
      );
    },
  },
];
