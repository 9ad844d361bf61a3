/**
 * What the model reads, word by word: short, exact, and what to do next.
 *
 * @module
 */
import { assertEquals } from "@std/assert";
import { test } from "node:test";
import type { ExecParams, ProcessParams } from "../mod.ts";
import { act, background, type Bench, ended, open, start } from "./fakes/bench.ts";
import { settle } from "./fakes/clock.ts";
import type { FakeChild } from "./fakes/spawner.ts";

/** Id of the first session of a bench. */
const ID = "agile-badger-2222";

/** The text of a command that is driven to its end. */
async function endText(drive: (child: FakeChild, bench: Bench) => unknown, params: Partial<ExecParams> = {}) {
  const bench = open({ maxResultChars: 1_000 }, { host: { inspects: true } });
  const { answer, child } = await start(bench, params);
  await drive(child, bench);
  await bench.clock.advance(2_000);
  return (await ended(answer)).text;
}

/** The text of one call of `process` on the first session. */
async function text({ agent }: Bench, params: ProcessParams): Promise<string> {
  return (await agent.process({ sessionId: ID, ...params })).text;
}

test("exec: a success is its output and nothing else", async () => {
  assertEquals(await endText((child) => [child.print("hello\n"), child.end(0)]), "hello");
  assertEquals(await endText((child) => child.end(0)), "(no output)");
});

test("exec: a code other than 0 is stated", async () => {
  assertEquals(await endText((child) => [child.print("oops", "stderr"), child.end(2)]), "oops\n[exit code 2]");
  assertEquals(await endText((child) => child.end(127)), "(no output)\n[exit code 127: command not found]");
});

test("exec: an end by a signal says that it was not on request", async () => {
  assertEquals(
    await endText((child) => child.end("SIGSEGV")),
    "(no output)\n[ended by signal SIGSEGV, which was not sent on request]",
  );
});

test("exec: a timeout says how long it was and what may be missing", async () => {
  assertEquals(
    await endText((child) => child.print("partial"), { timeout: 1.5 }),
    "partial\n[timed out after 1.5 s, ended by SIGTERM]\n" +
      "[output that the program had buffered and not written yet may be lost]",
  );
});

test("exec: output that does not fit says exactly what is left out and where it is", async () => {
  const line = "0123456789\n";
  const said = await endText((child) => [child.print(line.repeat(500)), child.end(0)]);
  assertEquals(
    said.replace(/(0123456789\n)+/g, "<lines>\n"),
    "<lines>\n… 4598 characters in 418 lines left out …\n<lines>\n" +
      `[all output that is held: process { action: "log", sessionId: "${ID}" }]`,
  );
  assertEquals(said.split(line).length - 1, 500 - 418);
});

test("exec: what lives on is named, and how to end it", async () => {
  assertEquals(
    await endText((child) => [child.started.push({ pid: 2001, name: "node", inGroup: true }), child.exit(0)]),
    "(no output)\n[the shell has exited, 1 process it started still runs: node 2001; " +
      `process { action: "kill", sessionId: "${ID}" } ends them]`,
  );
});

test("exec: a command that runs on gives its tail, its id, its timeout and how to follow it up", async () => {
  const bench = open();
  const { answer, child } = await start(bench, { yieldMs: 100, timeout: 60 });
  child.print("up\n");
  await bench.clock.advance(100);
  assertEquals(
    (await answer).text,
    `up\n[running in the background: session ${ID}, pid 1001, stopped after 60 s (timeout) if still running]\n` +
      `[process { action: "poll", sessionId: "${ID}", timeout: 30000 } waits for more output or the end]`,
  );
});

test("exec: a twin that runs already, a shell that is not bash and a warning are each one line", async () => {
  const bench = open({ shell: "sh" }, { host: { pty: "none is installed" } });
  await background(bench, { timeout: 0 });
  const twin = await background(bench, { timeout: 0, pty: true });
  assertEquals(twin.text.split("\n").slice(2), [
    `[the same command already runs here as session ${ID}]`,
    "[ran in sh]",
    "[no terminal (none is installed): the command ran on pipes]",
  ]);
});

test("exec: wrong parameters", async () => {
  assertEquals(
    (await open().agent.exec({ cmd: "ls" } as never)).text,
    'The command was not run. cmd: unknown; did you mean "command"?; command: required',
  );
});

test("poll: output, then silence with advice, then the end", async () => {
  const bench = open();
  const { child } = await background(bench);
  child.print("up\n");
  const poll = () => text(bench, { action: "poll" });
  assertEquals(await poll(), "up\n[running]");
  assertEquals(
    await poll(),
    "(no new output)\n[running; nothing new, poll again in 5 s]\n[silent may mean that the program buffers its output " +
      "because it is on a pipe: pty: true, stdbuf -oL or python -u show it at once]",
  );
  assertEquals(await poll(), "(no new output)\n[running; nothing new, poll again in 10 s]");
  await bench.clock.advance(20_000);
  assertEquals(
    await poll(),
    "(no new output)\n[running; nothing new, poll again in 30 s]\n[maybe waiting for input: silent for 20 s with its " +
      "stdin open (write or submit; eof: true ends its input)]",
  );
  child.end(3);
  await settle();
  assertEquals(await poll(), "(no new output)\n[completed: exit code 3]");
});

test("list: one line a session", async () => {
  const bench = open();
  const { child } = await background(bench, { command: "npm run dev", pty: true });
  child.print("ready\n");
  await bench.clock.advance(1_500);
  assertEquals(
    (await act(bench.agent, { action: "list" })).text,
    `${ID}  npm run | running, 1.5 s | pid 1001 | pty | last line: ready`,
  );
});

test("log: the lines, where they are and how it stands", async () => {
  const bench = open();
  const { child } = await background(bench);
  child.print("one\ntwo\nthree\n");
  assertEquals(
    await text(bench, { action: "log", limit: 2 }),
    "two\nthree\n[lines 1 to 2 of 3; older ones: offset 0; running, stdin open, idle 0 s]",
  );
});

test("writing: how much was taken, and what became of it", async () => {
  const bench = open();
  await background(bench, { pty: true });
  assertEquals(await text(bench, { action: "write", data: "yes\n" }), "Wrote 4 bytes.");
  assertEquals(await text(bench, { action: "paste", text: "abc" }), "Wrote 3 bytes.\nNot marked as a paste.");
  assertEquals(await text(bench, { action: "send-keys", keys: ["C-c"] }), "Wrote 1 byte.");
  assertEquals(
    await text(bench, { action: "resize", cols: 80, rows: 24 }),
    "The terminal has 80 columns and 24 rows.",
  );
});

test("kill: what has been done, what will be, and how it ended", async () => {
  const bench = open();
  const { child } = await background(bench, { pty: true });
  child.ignores = ["SIGTERM", "SIGINT"];
  assertEquals(await text(bench, { action: "kill", signal: "SIGINT" }), "SIGINT sent. [running]");
  assertEquals(
    await text(bench, { action: "kill" }),
    "SIGTERM sent to all its processes; what is left after 5 s gets SIGKILL. " +
      'poll with until: "exit" tells the end.',
  );
  await bench.clock.advance(6_000);
  assertEquals(await text(bench, { action: "kill" }), "It has already ended. [killed on request, ended by SIGKILL]");
  assertEquals(await text(bench, { action: "clear" }), `Cleared ${ID}. [killed on request, ended by SIGKILL]`);
});

test("a session that cannot do it, is gone, or never was", async () => {
  const bench = open();
  const { child } = await background(bench);
  assertEquals(
    await text(bench, { action: "clear" }),
    `Cannot clear session "${ID}": it is running. Use kill, or remove to kill and forget it`,
  );
  child.end(0);
  await settle();
  assertEquals(
    await text(bench, { action: "write", data: "x" }),
    `Cannot write to session "${ID}": it has ended (completed: exit code 0)`,
  );
  await act(bench.agent, { action: "clear", sessionId: ID });
  assertEquals(
    await text(bench, { action: "poll" }),
    `Session "${ID}" (make) is not kept any more: it was cleared just now. It had ended just now, ` +
      "completed: exit code 0. Its output is gone",
  );
  assertEquals(await text(bench, { action: "poll", sessionId: "nope" }), 'No session "nope": there are none');
});

test("process: wrong parameters", async () => {
  const bench = open();
  assertEquals(
    await text(bench, { action: "poll", timeoutMs: 5 } as never),
    'Nothing was done. timeoutMs: unknown; did you mean "timeout"?',
  );
});
