/**
 * A session whose machine cannot be reached any more, and one whose process ids are another machine's.
 *
 * @module
 */
import { test } from "node:test";
import { assertEquals, assertStringIncludes } from "@std/assert";
import { type Child, createOffstage, type Exit, type OrphanGuard, type Spawner } from "../mod.ts";
import { createFakeClock } from "./fakes/clock.ts";
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
