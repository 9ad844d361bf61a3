/**
 * An answer that tells a command's end has told all its output: also when the end comes while the answer is made.
 *
 * @module
 */
import { test } from "node:test";
import { assertEquals, assertMatch } from "@std/assert";
import { act, background, type Bench, open, type Running } from "./fakes/bench.ts";
import { settle } from "./fakes/clock.ts";

/** A command in the background, on a platform that says whether it waits for input only when told to. */
interface AskedSlowly extends Running {
  readonly bench: Bench;
  readonly tell: () => void;
}

async function commandAskedSlowly(): Promise<AskedSlowly> {
  const bench = open({}, { host: { inspects: true } });
  const running = await background(bench);
  let tell = (): void => {};
  running.child.reader = new Promise((resolve) => (tell = () => resolve(undefined)));
  running.child.print("Name: ");
  return { ...running, bench, tell };
}

/** The command prints its last words and ends while the platform is being asked. */
async function endWhileAsked<T>({ bench, child, tell }: AskedSlowly, ask: Promise<T>): Promise<T> {
  await settle();
  child.print("last words\n");
  child.end(3);
  await bench.clock.advance(0);
  tell();
  return await ask;
}

test("P10 a poll during which the command ends leaves end and last output to the next one", async () => {
  const command = await commandAskedSlowly();
  const { bench, id } = command;
  const first = await endWhileAsked(command, act(bench.agent, { action: "poll", sessionId: id }));
  assertEquals([first.output, first.status, first.exitCode], ["Name: ", "running", null]);
  assertMatch(first.text, /^Name: \n\[running\]/);
  const next = await act(bench.agent, { action: "poll", sessionId: id });
  assertEquals([next.output, next.status, next.exitCode], ["last words\n", "completed", 3]);
});

test("P20 a log during which the command ends and tells that has its last lines", async () => {
  const command = await commandAskedSlowly();
  const page = await endWhileAsked(command, act(command.bench.agent, { action: "log", sessionId: command.id }));
  assertEquals([page.status, page.lines.map(({ text }) => text)], ["completed", ["Name: last words"]]);
});
