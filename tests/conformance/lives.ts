/**
 * The lives a session can have, each with what must come of it.
 *
 * @module
 */
import { setTimeout as sleep } from "node:timers/promises";
import { assert, assertEquals } from "@std/assert";
import type { Agent, EndedDetails, ExecParams } from "../../mod.ts";
import type { Random } from "../random.ts";
import { kill, poll } from "./agent.ts";
import { createReader, type End, endOf, type Reader } from "./reader.ts";

/** What a life is lived with. */
export interface Stage {
  /** The agent that starts the session. */
  readonly agent: Agent;
  /** Makes every choice. */
  readonly random: Random;
  /** Environment of everything that is started. */
  readonly env: Readonly<Record<string, string>>;
  /** Given to every call; it never fires. */
  readonly signal: AbortSignal;
  /** Whether there are terminals to use. */
  readonly terminals: boolean;
  /** Says that a session has been left running. */
  leave(sessionId: string): void;
}

/** One way to live, and how often. */
export interface Life {
  /** What happens. */
  readonly name: string;
  /** How often, in proportion to the others. */
  readonly weight: number;
  /** Lives it to its end; fails if something else comes of it. */
  live(stage: Stage): Promise<void>;
}

/** A day that no test waits for. */
const FOREVER = "sleep 86400";

/** How all that are ended on request may end: by the ladder's first signal, or its second on a busy machine. */
const KILLED: readonly End[] = (["SIGTERM", "SIGKILL"] as const).map((signal) => ({
  status: "killed",
  reason: "killed",
  exitCode: null,
  signal,
}));

const completed = (exitCode: number): End => ({ status: "completed", reason: "exit", exitCode, signal: null });

/** Numbered lines, and the part of a command that prints them to one of its streams. */
function someLines(random: Random, most = 40): { readonly lines: string; readonly print: string } {
  const numbers = Array.from({ length: 1 + random.below(most) }, (_, index) => index + 1);
  const print = `printf '%s\\n' ${numbers.join(" ")}${random.chance(0.3) ? " >&2" : ""}`;
  return { lines: numbers.map((number) => `${number}\n`).join(""), print };
}

async function inForeground({ agent, env, signal }: Stage, params: ExecParams): Promise<EndedDetails> {
  const { details, text } = await agent.exec({ env, ...params }, { signal });
  if (!("durationMs" in details)) throw new Error(`Expected an end but got: ${text}`);
  return details;
}

async function inBackground(
  stage: Stage,
  params: ExecParams,
): Promise<{ readonly id: string; readonly reader: Reader }> {
  const { agent, env, signal, random } = stage;
  const { details, text } = await agent.exec({ env, background: true, ...params }, { signal });
  if (details.status !== "running") throw new Error(`Expected "running" but got: ${text}`);
  const waits = random.chance(0.5) ? () => random.below(40) : undefined;
  return { id: details.sessionId, reader: createReader(agent, details.sessionId, waits) };
}

/** A terminal for some of them. */
function maybePty({ random, terminals }: Stage): boolean {
  return random.chance(0.1) && terminals;
}

/** Leaves the record of an ended session to the retention, or sees to it itself. */
async function partWith({ agent, random }: Stage, sessionId: string): Promise<void> {
  if (random.chance(0.3)) return;
  const { isError, text } = await agent.process({ action: random.chance(0.5) ? "clear" : "remove", sessionId });
  assert(!isError, text);
}

async function remove({ agent }: Stage, sessionId: string): Promise<void> {
  const { isError, text } = await agent.process({ action: "remove", sessionId });
  assert(!isError, text);
  const gone = await agent.process({ action: "poll", sessionId });
  assert(gone.isError, `it is removed, but: ${gone.text}`);
}

function assertOneOf(end: End, possible: readonly End[]): void {
  assert(
    possible.some((one) => JSON.stringify(one) === JSON.stringify(end)),
    `it ended otherwise: ${JSON.stringify(end)}`,
  );
}

function assertBeginning(output: string, lines: string): void {
  assert(lines.startsWith(output), `not what it printed, once and in order: ${JSON.stringify(output)}`);
}

/** All the lives. */
export const LIVES: readonly Life[] = [
  {
    name: "runs in the foreground",
    weight: 36,
    live: async (stage) => {
      const { lines, print } = someLines(stage.random);
      const exitCode = stage.random.below(4);
      const details = await inForeground(stage, { command: `${print}; exit ${exitCode}`, pty: maybePty(stage) });
      assertEquals([details.output, endOf(details), details.sessionId], [lines, completed(exitCode), undefined]);
    },
  },
  {
    name: "is polled to its end",
    weight: 18,
    live: async (stage) => {
      const { random } = stage;
      const { lines, print } = someLines(random);
      const nap = random.chance(0.5) ? "" : `sleep 0.0${random.below(5)};`;
      const command = `${print}; ${nap} echo last; exit 3`;
      const { id, reader } = await inBackground(stage, { command, pty: maybePty(stage) });
      assertOneOf(await reader.readToEnd(), [completed(3)]);
      const streams = (text: string): readonly string[] => text.split("\n").sort(); // "last" may come by another pipe
      assertEquals(streams(reader.output()), streams(`${lines}last\n`));
      await partWith(stage, id);
    },
  },
  {
    name: "prints much",
    weight: 4,
    live: async (stage) => {
      const count = 2_000 + stage.random.below(6_000);
      const { id, reader } = await inBackground(stage, { command: `seq ${count}`, pty: maybePty(stage) });
      assertOneOf(await reader.readToEnd(), [completed(0)]);
      assertEquals(reader.output(), Array.from({ length: count }, (_, index) => `${index + 1}\n`).join(""));
      await partWith(stage, id);
    },
  },
  {
    name: "is written to",
    weight: 4,
    live: async (stage) => {
      const { lines } = someLines(stage.random);
      const { id: sessionId, reader } = await inBackground(stage, { command: "exec cat" });
      const cut = stage.random.below(lines.length);
      const write = { action: "write", sessionId } as const;
      await stage.agent.process({ ...write, data: lines.slice(0, cut) });
      await stage.agent.process({ ...write, data: lines.slice(cut), eof: true });
      assertOneOf(await reader.readToEnd(), [completed(0)]);
      assertEquals(reader.output(), lines);
      await partWith(stage, sessionId);
    },
  },
  {
    name: "is killed",
    weight: 10,
    live: async (stage) => {
      const { agent, random } = stage;
      const { lines, print } = someLines(random);
      const { id, reader } = await inBackground(stage, { command: `${print}; exec ${FOREVER}`, pty: maybePty(stage) });
      const seen = random.chance(0.5);
      while (seen && reader.output() !== lines) await reader.read({ timeout: 30_000 });
      await kill(agent, id, { wait: random.chance(0.5) ? 30_000 : 0 });
      assertOneOf(await reader.readToEnd(), KILLED);
      assertBeginning(reader.output(), lines);
      await partWith(stage, id);
    },
  },
  {
    name: "does not hear SIGTERM",
    weight: 3,
    live: async (stage) => {
      const { lines, print } = someLines(stage.random);
      const command = `trap '' TERM; ${print}; while :; do ${FOREVER}; done`;
      const { id, reader } = await inBackground(stage, { command, pty: maybePty(stage) });
      while (reader.output() !== lines) await reader.read({ timeout: 30_000 });
      await kill(stage.agent, id);
      assertOneOf(await reader.readToEnd(), KILLED.slice(1));
      assertEquals(reader.output(), lines);
      await partWith(stage, id);
    },
  },
  {
    name: "is killed by two at once while two read",
    weight: 3,
    live: async (stage) => {
      const { lines, print } = someLines(stage.random);
      const { agent } = stage;
      const { id } = await inBackground(stage, { command: `${print}; exec ${FOREVER}` });
      const wait = { timeout: 30_000, until: "exit" };
      const [one, other] = await Promise.all([
        poll(agent, id, wait),
        poll(agent, id, wait),
        kill(agent, id),
        kill(agent, id),
      ]);
      assertOneOf(endOf(one), KILLED);
      assertEquals(endOf(other), endOf(one));
      assert(one.output === "" || other.output === "", "both were told the same");
      assertBeginning(one.output + other.output, lines);
      await partWith(stage, id);
    },
  },
  {
    name: "is removed at once",
    weight: 8,
    live: async (stage) => {
      const { print } = someLines(stage.random);
      const pty = maybePty(stage);
      const command = stage.random.chance(0.5) ? print : `${print}; exec ${FOREVER}`;
      await remove(stage, (await inBackground(stage, { command, pty })).id);
    },
  },
  {
    name: "leaves a process behind",
    weight: 3,
    live: async (stage) => {
      const { random } = stage;
      const { lines, print } = someLines(random);
      // One that holds the pipes takes half a second more; one that left both group and pipes is nobody's (rule R7)
      const holds = random.chance(0.2);
      const leftover = holds ? `${random.chance(0.5) ? "setsid " : ""}${FOREVER}` : `${FOREVER} >/dev/null 2>&1`;
      const command = `${leftover} & ${print}; exit 2`;
      const { output, sessionId = "", survivors, ...rest } = await inForeground(stage, { command });
      assertEquals([output, endOf(rest), survivors.length], [lines, completed(2), 1]);
      if (random.chance(0.5)) assert((await kill(stage.agent, sessionId)).confirmed, "its tree has been ended");
      await remove(stage, sessionId);
    },
  },
  {
    name: "runs out of time",
    weight: 4,
    live: async (stage) => {
      const { lines, print } = someLines(stage.random);
      const timeout = (1 + stage.random.below(50)) / 1_000;
      const params = { command: `${print}; exec ${FOREVER}`, timeout, pty: maybePty(stage) };
      const ends = KILLED.map((end): End => ({ ...end, status: "failed", reason: "timeout" }));
      if (stage.random.chance(0.5)) {
        const details = await inForeground(stage, params);
        assertOneOf(endOf(details), ends);
        assertBeginning(details.output, lines);
        return;
      }
      const { id, reader } = await inBackground(stage, params);
      assertOneOf(await reader.readToEnd(), ends);
      assertBeginning(reader.output(), lines);
      await partWith(stage, id);
    },
  },
  {
    name: "is aborted",
    weight: 5,
    live: async (stage) => {
      const { lines, print } = someLines(stage.random);
      const controller = new AbortController();
      const command = `${print}; exec ${FOREVER}`;
      const run = stage.agent.exec({ command, env: stage.env, pty: maybePty(stage) }, { signal: controller.signal });
      void sleep(stage.random.below(30)).then(() => controller.abort("enough"));
      const error = await run.then(() => undefined, (thrown: Error & { readonly output?: string }) => thrown);
      assertEquals([error?.name, error?.cause], ["AbortError", "enough"]);
      assertBeginning(error?.output ?? "", lines);
    },
  },
  {
    name: "is left running",
    weight: 2,
    live: async (stage) => {
      const { print } = someLines(stage.random);
      const { id } = await inBackground(stage, { command: `${print}; exec ${FOREVER}`, pty: maybePty(stage) });
      stage.leave(id);
    },
  },
];
