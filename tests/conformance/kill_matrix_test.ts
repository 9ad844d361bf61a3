/**
 * Whatever a command does to escape, a kill ends all of it, on pipes and in a terminal: E34, cases 36 to 47.
 *
 * @module
 */
import process from "node:process";
import { assertEquals } from "@std/assert";
import {
  background,
  eventually,
  kill,
  open,
  processesCarrying,
  processesWith,
  processState,
  uniqueMark,
  uniqueSleep,
} from "./agent.ts";
import { CONNECTIONS, needs, proc } from "./machine.ts";
import { closing, test } from "../closing.ts";

const bash = proc || await needs("bash");
const otherUser = proc || await needs("setpriv", "setpriv --reuid 65534 --clear-groups true");

/** Every row: what the command does, the command (`nap` is a sleep of a day), how many naps it comes to at least. */
const WAYS: readonly (readonly [
  what: string,
  command: (nap: string) => string,
  naps: number,
  skip: string | false,
])[] = [
  ["plain", (nap) => `${nap} & ${nap}; true`, 2, proc],
  ["SIGTERM ignored", (nap) => `trap '' TERM; ${nap} & ${nap}; ${nap}`, 2, proc],
  ["SIGTERM and SIGHUP ignored", (nap) => `trap '' TERM HUP; ${nap} & ${nap}; ${nap}`, 2, proc],
  ["setsid", (nap) => `setsid ${nap} & exec ${nap}`, 2, proc],
  ["setsid that ignores SIGTERM", (nap) => `setsid sh -c "trap '' TERM; ${nap}; ${nap}" & ${nap}`, 2, proc],
  ["a double fork", (nap) => `(setsid ${nap} </dev/null >/dev/null 2>&1 &); ${nap}`, 2, proc],
  ["a daemon and nothing else", (nap) => `setsid -f ${nap} </dev/null >/dev/null 2>&1; ${nap}`, 2, proc],
  ["nohup", (nap) => `nohup ${nap} >/dev/null 2>&1 & ${nap}`, 2, proc],
  ["disown", (nap) => `${nap} & disown; ${nap}`, 2, bash],
  ["job control, so a group for each job", (nap) => `set -m; ${nap} & ${nap} & wait`, 2, bash],
  ["a shell in a shell", (nap) => `bash --norc -ic '${nap} & ${nap}'; true`, 2, bash],
  [
    "everything stopped",
    (nap) => `setsid ${nap} & a=$!; ${nap} & sleep 0.3; kill -STOP $a $! $$; ${nap}`,
    2,
    proc,
  ],
  ["stopped, SIGTERM ignored", (nap) => `trap '' TERM; ${nap} & sleep 0.3; kill -STOP $! $$; ${nap}`, 1, proc],
  [
    "a fork on SIGTERM",
    (nap) => `trap 'setsid ${nap} & ${nap} &' TERM; ${nap} & while :; do sleep 0.05; done`,
    1,
    proc,
  ],
  ["forks without end", (nap) => `trap '' TERM; while :; do setsid ${nap} & sleep 0.02; done`, 2, proc],
  [
    "forks without end outside the group",
    (nap) => `setsid sh -c "trap '' TERM; while :; do setsid ${nap} & sleep 0.02; done" & ${nap}`,
    2,
    proc,
  ],
  [
    "another user's",
    (nap) => `u="setpriv --reuid 65534 --clear-groups"; $u ${nap} & $u setsid ${nap} & ${nap}`,
    3,
    otherUser,
  ],
  ["a cleared environment", (nap) => `env -i ${nap} & ${nap}`, 2, proc],
  ["a cleared environment and setsid, the parent alive", (nap) => `env -i setsid ${nap} & ${nap}; wait`, 2, proc],
];

for (const [what, command, naps, skip] of WAYS) {
  for (const { how, pty, skip: skipConnection } of CONNECTIONS) {
    test(`E34 a kill on ${how} leaves nobody: ${what}`, { skip: skip || skipConnection }, async () => {
      const bench = closing(open({ killGraceMs: 500 }));
      const nap = uniqueSleep();
      const { env, variable } = uniqueMark();
      const { id } = await background(bench.agent, { command: command(nap), pty, env, background: true });
      await eventually(() => processesWith(nap).length >= naps, "all are up");
      const isStopped = (): boolean => processesCarrying(variable).every((pid) => processState(pid) === "T");
      if (what.includes("stopped")) await eventually(isStopped, "all are stopped");
      const { confirmed, survivors, text } = await kill(bench.agent, id);
      assertEquals([confirmed, survivors], [true, []], text);
      assertEquals([processesWith(nap), processesCarrying(variable)], [[], []]);
    });
  }
}

for (const { how, pty, skip } of CONNECTIONS) {
  test(
    `E34 a kill on ${how} cannot reach who has neither mark nor parent left, and ends all others`,
    { skip },
    async () => {
      const bench = closing(open({ killGraceMs: 500 }));
      const [lost, nap] = [uniqueSleep(), uniqueSleep()];
      try {
        const { id } = await background(bench.agent, {
          command: `(env -i setsid ${lost} &); ${nap}`,
          pty,
          background: true,
        });
        await eventually(() => processesWith(lost).length + processesWith(nap).length === 2, "both are up");
        assertEquals((await kill(bench.agent, id)).confirmed, true);
        assertEquals([processesWith(nap).length, processesWith(lost).length], [0, 1]);
      } finally {
        for (const pid of processesWith(lost)) process.kill(pid, "SIGKILL");
      }
    },
  );
}
