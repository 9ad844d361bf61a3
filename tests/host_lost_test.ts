/**
 * A session whose machine cannot be reached any more, one whose process ids are another machine's, and what the guard of
 * this machine is told.
 *
 * @module
 */
import { test } from "node:test";
import { assertEquals, assertStringIncludes } from "@std/assert";
import { type Child, createOffstage, type Exit, type OrphanGuard, type Spawner } from "../mod.ts";
import { act, background, open, start } from "./fakes/bench.ts";
import { createFakeClock, settle } from "./fakes/clock.ts";
import { createFakeRuntime, createMachine } from "./fakes/runtime.ts";

/** A host whose one child ends as the test says. */
function host(how: Partial<Child> = {}): { readonly spawner: Spawner; readonly end: (exit: Exit) => void } {
  let end: (exit: Exit) => void = () => {};
  const exited = new Promise<Exit>((resolve) => end = resolve);
  const spawner: Spawner = {
    name: "far",
    capabilities: () => Promise.resolve({ pty: "there are none", signals: true, groups: true }),
    spawn: (_, sink) => {
      void exited.then(() => sink.end());
      return Promise.resolve({
        pid: 4321,
        exited,
        write: () => Promise.resolve(),
        endInput: () => Promise.resolve(),
        signal: () => "gone",
        release: () => {},
        ...how,
      });
    },
  };
  return { spawner, end };
}

test("E27 a session whose host was lost has failed for that reason, and says what is known", async () => {
  const { spawner, end } = host();
  const offstage = createOffstage({ runtime: createFakeRuntime(createMachine(), spawner, createFakeClock()) });
  const answer = offstage.agent("tester").exec({ command: "make" });
  end({ lost: "builder: closed by remote host" });
  const { details, text } = await answer;
  assertEquals("durationMs" in details && [details.status, details.reason, details.ok], ["failed", "host-lost", false]);
  assertEquals("durationMs" in details && [details.exitCode, details.signal], [null, null]);
  assertStringIncludes(text, "its host was lost (builder: closed by remote host): how it ended there is unknown");
});

test("P40 of a session whose host is lost while it is killed nobody says that its processes have ended", async () => {
  const { spawner, end } = host({ signal: () => (end({ lost: "builder: silent" }), "sent") });
  const offstage = createOffstage({ runtime: createFakeRuntime(createMachine(), spawner, createFakeClock()) });
  const agent = offstage.agent("tester");
  const { details } = await agent.exec({ command: "make", background: true });
  const sessionId = "sessionId" in details ? details.sessionId ?? "" : "";
  const { text } = await agent.process({ action: "kill", sessionId, wait: 1_000 });
  assertStringIncludes(text, "Nobody can reach it any more. [failed: its host was lost (builder: silent)");
});

test("E39 the guard of this machine is told of its own processes only", async () => {
  for (const isElsewhere of [false, true]) {
    const watched: number[] = [];
    const guard: OrphanGuard = {
      instance: "i",
      watch: (pid) => void watched.push(pid),
      tell: () => {},
      release: () => {},
      status: () => "on",
      close: () => {},
    };
    const { spawner, end } = host({ isElsewhere });
    const runtime = createFakeRuntime(createMachine(), spawner, createFakeClock());
    const answer = createOffstage({ runtime: { ...runtime, guard: () => guard } }).agent("tester").exec({
      command: "make",
    });
    end({ code: 0 });
    await answer;
    assertEquals(watched, isElsewhere ? [] : [4321]);
  }
});

test("E39 the guard is told of what stays: a command in the background, and what a shell has left behind", async () => {
  const told: string[] = [];
  const guard: OrphanGuard = {
    instance: "i",
    watch: () => void told.push("watch"),
    tell: () => void told.push("tell"),
    release: () => void told.push("release"),
    status: () => "on",
    close: () => {},
  };
  const { spawner, clock, machine, ...rest } = open({}, { host: { inspects: true } });
  const runtime = { ...createFakeRuntime(machine, spawner, clock), guard: () => guard };
  const agent = createOffstage({ runtime }).agent("tester");
  const bench = { ...rest, spawner, clock, machine, agent };
  const quick = await start(bench);
  quick.child.end(0);
  await quick.answer;
  assertEquals(told.splice(0), ["watch", "release"]);
  const { child } = await background(bench);
  assertEquals(told.splice(0), ["watch", "tell"]);
  child.end(0);
  await settle();
  assertEquals(told.splice(0), ["release"]);
  const leaving = await start(bench);
  leaving.child.started.push({ pid: 2001, name: "server", inGroup: true });
  leaving.child.exit(0);
  await clock.advance(1_000);
  const { details } = await leaving.answer;
  assertEquals([...new Set(told.splice(0))], ["watch", "tell"]);
  leaving.child.started.length = 0;
  const sessionId = "sessionId" in details ? details.sessionId ?? "" : "";
  assertEquals((await act(agent, { action: "kill", sessionId })).confirmed, true);
  assertEquals(told, ["release"]);
});
