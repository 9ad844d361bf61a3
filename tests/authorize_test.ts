/**
 * The `authorize` hook: what it is asked, and what it is not (spec H5).
 *
 * @module
 */
import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { test } from "node:test";
import { AbortError, type ExecRequest, type Place, type Verdict } from "../mod.ts";
import { act, background, countingSignal, notStarted, open } from "./fakes/bench.ts";
import { createFakeSpawner } from "./fakes/spawner.ts";

test("H5 authorize is given what will run, frozen, before anything is spawned", async () => {
  const asked: ExecRequest[] = [];
  const bench = open({}, {
    authorize: (request) => {
      assertEquals(bench.spawner.children.length, 0);
      asked.push(request);
      return { allow: true };
    },
  });
  const { child } = await background(bench, { command: "make all", env: { LEVEL: "3" } });
  const [request] = asked;
  assert(request !== undefined && Object.isFrozen(request) && Object.isFrozen(request.env));
  const { scope, command, cwd, env, host, elevated, pty } = request;
  assertEquals([scope, command, cwd], ["tester", "make all", child.spec.cwd]);
  assertEquals([env, host, elevated, pty], [{ LEVEL: "3" }, "gateway", false, false]);
});

test("H5 what authorize denies is not started, and the answer gives its reason", async () => {
  const bench = open({}, {
    authorize: ({ command }) => command.startsWith("dd ") ? { allow: false, reason: "no disks" } : { allow: true },
  });
  const { details, text } = await notStarted(bench.agent.exec({ command: "dd if=/dev/zero of=disk" }));
  assertEquals([details.reason, bench.spawner.children.length], ["refused", 0]);
  assertStringIncludes(text, "no disks");
});

test("H5 R1 a policy that throws, rejects or says nothing has allowed nothing, and the answer says so", async () => {
  const broken: readonly (() => unknown)[] = [
    () => {
      throw new Error("no connection");
    },
    () => Promise.reject(new Error("no connection")),
    () => undefined,
    () => ({ allow: "yes" }),
    () => true,
    () => ({ allow: false }),
    () => ({ allow: false, reason: Symbol("no") }),
    () => {
      throw { toString: null };
    },
  ];
  const failed = "authorize failed (no connection)";
  const said: readonly (string | undefined)[] = [
    failed,
    failed,
    undefined,
    undefined,
    undefined,
    "authorize gave no reason",
    "Symbol(no)",
    "authorize failed (it cannot be told)",
  ];
  for (const [index, authorize] of broken.entries()) {
    const bench = open({}, { authorize: authorize as () => Verdict });
    const { details, text } = await notStarted(bench.agent.exec({ command: "make" }));
    assertEquals([details.reason, bench.spawner.children.length], ["refused", 0]);
    assertStringIncludes(text, said[index] ?? "authorize answered neither { allow: true } nor");
  }
});

test("H5 E32 an abort while authorize is asked rejects at once; what is allowed later is not started", async () => {
  let allow = (_: Verdict): void => {};
  const verdict = new Promise<Verdict>((resolve) => allow = resolve);
  let tell = (): void => {};
  const asked = new Promise<void>((resolve) => tell = resolve);
  const bench = open({}, { authorize: () => (tell(), verdict) });
  const { signal, abort, listeners } = countingSignal();
  const call = bench.agent.exec({ command: "make" }, { signal });
  await asked;
  abort("no more wanted");
  const error = await assertRejects(() => call, AbortError);
  assertEquals([error.cause, listeners()], ["no more wanted", 0]);
  allow({ allow: true });
  await bench.clock.advance(1_000);
  assertEquals(bench.spawner.children.length, 0);
});

test("E32 an abort while a host looks for the directory or the shell rejects at once", async () => {
  for (const never of ["directoryStatus", "hasProgram"] as const) {
    let tell = (): void => {};
    const asked = new Promise<void>((resolve) => tell = resolve);
    const place: Place = {
      cwd: () => "/remote",
      home: () => undefined,
      directoryStatus: () => "ok",
      hasProgram: () => true,
      [never]: () => (tell(), new Promise(() => {})),
    };
    const bench = open({}, { sandbox: Object.assign(createFakeSpawner(), { place }) });
    const { signal, abort, listeners } = countingSignal();
    const call = bench.agent.exec({ command: "make" }, { signal });
    await asked;
    abort();
    await assertRejects(() => call, AbortError);
    assertEquals(listeners(), 0, never);
  }
});

test("H3 a gate to elevated commands that throws is shut", async () => {
  const elevated = {
    enabled: true,
    allowed: (): boolean => {
      throw new Error("no connection");
    },
  };
  const bench = open({}, { elevated });
  assertEquals((await notStarted(bench.agent.exec({ command: "make", elevated: true }))).details.reason, "invalid");
  assertEquals((await background(bench)).child.spec.argv[0], "/bin/bash");
});

test("H5 authorize is asked about starts alone, not about what is typed into what it allowed [124]", async () => {
  const commands: string[] = [];
  const bench = open({}, {
    authorize: ({ command }) => {
      commands.push(command);
      return { allow: true };
    },
  });
  const { id, child } = await background(bench, { command: "bash", pty: true });
  await act(bench.agent, { action: "write", sessionId: id, data: "dd if=/dev/zero of=disk\r" });
  assertEquals([commands, child.writes], [["bash"], ["dd if=/dev/zero of=disk\r"]]);
});
