/**
 * The command line in a terminal: one of our own, with a shell in it that calls `offstage`.
 *
 * @module
 */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import type { RunningDetails } from "../../mod.ts";
import { closing, test } from "../closing.ts";
import { eventually, processesWith } from "./agent.ts";
import { OFFSTAGE_COMMAND, serverEnv } from "./cli.ts";
import { type Hands, handsOn } from "./hands.ts";
import { type Served, serveHttp } from "./http_server.ts";
import { terminal } from "./machine.ts";

/** A served session in a terminal, and what a person does in another one. */
async function attachTo(
  command: string,
  words = "",
): Promise<{ served: Served; id: string; hands: Hands; session: (until: string) => Promise<string> }> {
  const served = await serveHttp();
  closing({ [Symbol.asyncDispose]: () => served.close() });
  const one = served.offstage.agent("one");
  const { details } = await one.exec({ command, pty: true, background: true });
  const id = (details as RunningDetails).sessionId;
  const hands = await handsOn(served.offstage.agent("person"), {
    // What the terminal is like afterwards is told by stty
    command: `${OFFSTAGE_COMMAND} attach ${id} ${words}; echo "left with $?"; stty -a | tr ';' '\\n' | grep -w icanon`,
    env: serverEnv(served),
    cols: 95,
    rows: 28,
  });
  const session = async (until: string): Promise<string> =>
    (await one.process({ action: "poll", sessionId: id, until, timeout: 30_000 })).text;
  return { served, id, hands, session };
}

/** A program that tells its size when asked, and what it is given. */
const ASKED = 'stty size; while read -r line; do echo "got <$line>"; stty size; done; exit 7';

test(
  "attach is a full terminal: size, typing, resize, and the end with the child's code",
  { skip: terminal },
  async () => {
    const { served, id, hands } = await attachTo(ASKED);
    await hands.untilMatch("attached to");
    await hands.type("grüße\r");
    assertStringIncludes(await hands.untilMatch("28 95"), "got <grüße>");
    await served.offstage.agent("person").process({ action: "resize", sessionId: hands.id, cols: 101, rows: 33 });
    await eventually(async () => {
      await hands.type("size\r");
      const { details } = await served.offstage.agent("one").process({ action: "log", sessionId: id, limit: 1 });
      return "lines" in details && details.lines[0]?.text === "33 101";
    }, "the session's terminal has the size of this one");
    await hands.press("C-d");
    const { output } = await hands.end();
    assertStringIncludes(output, `${id}: exit code 7`);
    assertStringIncludes(output, "left with 7");
    assert(/(?<!-)icanon/.test(output), output);
  },
);

test("Ctrl-C is the session's, and Ctrl-P Ctrl-Q leaves it running", { skip: terminal }, async () => {
  const { served, id, hands } = await attachTo(
    `trap 'echo interrupted' INT; printf '\\033[?2004h\\033[?25lready\\n'; ${ASKED}`,
  );
  await hands.untilMatch("ready");
  await hands.press("C-c");
  await hands.untilMatch("interrupted");
  await hands.press("C-p", "x", "C-p", "C-q");
  const { output } = await hands.end();
  assertStringIncludes(output, `left ${id}: it goes on`);
  assertStringIncludes(output, "left with 0");
  assert(/(?<!-)icanon/.test(output), output);
  const raw = await served.offstage.agent("person").process({ action: "log", sessionId: hands.id, raw: true });
  assertStringIncludes(raw.text, "\x1b[?25h");
  assertStringIncludes(raw.text, "\x1b[?2004l");
  const { sessions } = (await served.offstage.agent("one").process({ action: "list" })).details as {
    sessions: readonly { status: string }[];
  };
  assertEquals(sessions[0]?.status, "running");
});

test("attach --readonly sends nothing, and keys of one's own leave", { skip: terminal }, async () => {
  const { hands, served, id } = await attachTo(ASKED, "--readonly --detach-keys q");
  await hands.untilMatch("30 120"); // not 28 95: the size is not sent either
  await hands.type("hello\r");
  await hands.type("q");
  assertStringIncludes((await hands.end()).output, "left with 0");
  const { text } = await served.offstage.agent("one").process({ action: "log", sessionId: id });
  assert(!text.includes("hello"), text);
});

test("attach that is ended by a signal gives the terminal back", { skip: terminal }, async () => {
  const { hands, id } = await attachTo(ASKED);
  await hands.type("x\r");
  await hands.untilMatch("got <x>"); // it is attached
  const [pid] = processesWith(`attach ${id}`).filter((each) => !processesWith("left with").includes(each));
  process.kill(pid ?? 0, "SIGTERM");
  const { output } = await hands.end();
  assertStringIncludes(output, "left with 143");
  assert(/(?<!-)icanon/.test(output), output);
});

test(
  "exec tells on a terminal how long a silent command has run, and takes that away",
  { skip: terminal },
  async () => {
    const served = await serveHttp();
    closing({ [Symbol.asyncDispose]: () => served.close() });
    const hands = await handsOn(served.offstage.agent("person"), {
      command: `${OFFSTAGE_COMMAND} exec 'sleep 6; echo done'`,
    });
    await hands.see("sleep 6 runs, [1-5] s");
    const { output } = await hands.end();
    assertStringIncludes(output, "done");
  },
);

test("mcp that a person starts says what it waits for, and ends with Ctrl-D", { skip: terminal }, async () => {
  const served = await serveHttp();
  closing({ [Symbol.asyncDispose]: () => served.close() });
  const command = `${OFFSTAGE_COMMAND} mcp; echo "left with $?"`;
  const hands = await handsOn(served.offstage.agent("person"), { command, env: serverEnv(served), cols: 95, rows: 28 });
  await hands.untilMatch("waits for an MCP client");
  await hands.press("C-d");
  assertStringIncludes((await hands.end()).output, "left with 0");
});
