/**
 * Settings: the user's words, the environment's and the defaults (spec section 1).
 *
 * @module
 */
import { assert, assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { test } from "node:test";
import { createOffstage, type ExecConfig, OffstageError, type Settings } from "../mod.ts";
import { act, background, open } from "./fakes/bench.ts";
import { createFakeClock } from "./fakes/clock.ts";
import { createFakeRuntime, createMachine } from "./fakes/runtime.ts";
import { createFakeSpawner } from "./fakes/spawner.ts";

interface NumberRow {
  readonly key: keyof ExecConfig & keyof Settings;
  readonly fallback: number;
  readonly min: number;
  readonly max: number;
  readonly env: readonly string[];
}

/** The table of rule C1. */
const NUMBERS: readonly NumberRow[] = [
  row("backgroundMs", 10_000, 10, 120_000, "OPENCLAW_BASH_YIELD_MS", "PI_BASH_YIELD_MS"),
  row("timeoutSeconds", 1_800, 0, Infinity),
  row("cleanupMs", 1_800_000, 60_000, 10_800_000, "OPENCLAW_BASH_JOB_TTL_MS", "PI_BASH_JOB_TTL_MS"),
  row("maxOutputChars", 200_000, 1_000, Infinity, "OPENCLAW_BASH_MAX_OUTPUT_CHARS", "PI_BASH_MAX_OUTPUT_CHARS"),
  row("pendingMaxOutputChars", 30_000, 1_000, Infinity, "OPENCLAW_BASH_PENDING_MAX_OUTPUT_CHARS"),
  row("inputWaitIdleMs", 15_000, 1_000, 600_000, "OPENCLAW_PROCESS_INPUT_WAIT_IDLE_MS"),
  row("maxResultChars", 30_000, 1_000, Infinity),
  row("maxSessions", 64, 1, Infinity),
  row("killGraceMs", 5_000, 0, 60_000),
  row("idleEndMs", 0, 0, Infinity),
  row("maxFinished", 50, 1, Infinity),
  row("maxFinishedChars", 20_000_000, 1_000, Infinity),
];

const OTHERS = {
  notifyOnExit: true,
  notifyOnExitEmptySuccess: false,
  plainTerminal: true,
  foldRepeats: false,
  orphanGuard: true,
  sandboxRequired: false,
  shell: undefined,
  inheritEnv: "all",
  host: "auto",
  limits: {},
} as const;

function row(key: NumberRow["key"], fallback: number, min: number, max: number, ...env: readonly string[]): NumberRow {
  return { key, fallback, min, max, env };
}

function settings(exec: unknown, environment: Record<string, string> = {}): Settings {
  return open(exec as ExecConfig, { environment }).offstage.settings;
}

function refusal(exec: unknown): OffstageError {
  const error = assertThrows(() => settings(exec), OffstageError);
  assertEquals(error.code, "invalid");
  return error;
}

test("C1 without configuration and environment every setting has its default", () => {
  const numbers = Object.fromEntries(NUMBERS.map(({ key, fallback }) => [key, fallback]));
  assertEquals({ ...settings({}) }, { ...numbers, ...OTHERS } as Settings);
});

for (const { key, fallback, min, max, env } of NUMBERS) {
  test(`C2 ${key}: a value in range is taken, one out of range is clamped`, () => {
    const inRange = Math.min(max, Math.max(min, fallback + 1));
    assertEquals(settings({ [key]: inRange })[key], inRange);
    assertEquals(settings({ [key]: min - 1 })[key], min);
    assertEquals(settings({ [key]: -1e15 })[key], min);
    assertEquals(settings({ [key]: Infinity })[key], max);
    if (max < Infinity) assertEquals(settings({ [key]: max + 1 })[key], max);
  });

  test(`C2 ${key}: a wrong type is a configuration error that names the key`, () => {
    for (const wrong of ["5000", true, {}, [], NaN]) {
      const error = refusal({ [key]: wrong });
      assertEquals(error.problems.map((problem) => problem.key), [`tools.exec.${key}`]);
      assertStringIncludes(error.message, `tools.exec.${key}: expected number`);
    }
  });

  for (const name of env) {
    test(`C1 C2 ${key}: ${name} beats the default, the configuration beats it, and it is clamped`, () => {
      const value = min + 7;
      assertEquals(settings({}, { [name]: String(value) })[key], value);
      assertEquals(settings({}, { [name]: ` ${value} ` })[key], value);
      assertEquals(settings({ [key]: min + 1 }, { [name]: String(value) })[key], min + 1);
      assertEquals(settings({}, { [name]: "-3" })[key], min);
      if (max < Infinity) assertEquals(settings({}, { [name]: "999999999999" })[key], max);
    });

    test(`C2 ${key}: ${name} counts as unset when it is not a whole number`, () => {
      for (const text of ["", "  ", "abc", "12.5", "1e4", "0x10", "20ms", "1_000", "NaN", "Infinity"]) {
        assertEquals(settings({}, { [name]: text })[key], fallback, `${name}=${text}`);
      }
    });
  }

  const [current, older] = env;
  if (current !== undefined && older !== undefined) {
    test(`C1 ${key}: ${current} beats its older alias ${older}, which is asked when it says nothing`, () => {
      const [first, second] = [min + 1, min + 2];
      assertEquals(settings({}, { [current]: String(first), [older]: String(second) })[key], first);
      assertEquals(settings({}, { [current]: "soon", [older]: String(second) })[key], second);
    });
  }
}

test("C1 settings without an environment variable listen to none", () => {
  const environment = Object.fromEntries(
    NUMBERS.filter(({ env }) => env.length === 0).flatMap(({ key }) => [[key, "77"], [`OPENCLAW_BASH_${key}`, "77"]]),
  );
  assertEquals(settings({}, environment), settings({}));
});

test("C1 timeoutSec is the older name of timeoutSeconds, fractions and 0 are fine", () => {
  assertEquals(settings({ timeoutSec: 2.5 }).timeoutSeconds, 2.5);
  assertEquals(settings({ timeoutSec: 0 }).timeoutSeconds, 0);
  assertEquals(settings({ timeoutSec: 3, timeoutSeconds: 3 }).timeoutSeconds, 3);
  assertEquals(refusal({ timeoutSec: 3, timeoutSeconds: 4 }).problems[0]?.key, "tools.exec.timeoutSec");
});

test("C2 fractions of a millisecond or a character are rounded", () => {
  assertEquals(settings({ backgroundMs: 10.4 }).backgroundMs, 10);
  assertEquals(settings({ maxSessions: 2.6 }).maxSessions, 3);
});

test("C2 switches, shell, inheritEnv and host take their values and refuse others by name", () => {
  const given = { ...OTHERS, notifyOnExit: false, orphanGuard: false, shell: "zsh", host: "gateway" } as const;
  const policy = { allow: ["PATH", "LC_*"], deny: ["*_TOKEN"] };
  const { notifyOnExit, orphanGuard, shell, host, inheritEnv } = settings({ ...given, inheritEnv: policy });
  assertEquals({ notifyOnExit, orphanGuard, shell, host, inheritEnv }, {
    notifyOnExit: false,
    orphanGuard: false,
    shell: "zsh",
    host: "gateway",
    inheritEnv: policy,
  });
  for (const key of Object.keys(OTHERS)) {
    assertEquals(refusal({ [key]: 42 }).problems.map((problem) => problem.key), [`tools.exec.${key}`]);
  }
  assertEquals(refusal({ shell: " " }).problems[0]?.key, "tools.exec.shell");
  assertEquals(refusal({ host: "moon" }).problems[0]?.key, "tools.exec.host");
  assertStringIncludes(refusal({ inheritEnv: { alow: [] } }).message, "inheritEnv");
});

test("R1 an unknown key inside tools.exec is an error that names the nearest, all problems at once", () => {
  const { message, problems } = refusal({ backgroundMS: 5, timeoutSecond: 1, maxSessions: "many", zzzzzz: 1 });
  assertEquals(problems.map(({ key }) => key), [
    "tools.exec.backgroundMS",
    "tools.exec.timeoutSecond",
    "tools.exec.zzzzzz",
    "tools.exec.maxSessions",
  ]);
  assertStringIncludes(message, 'did you mean "backgroundMs"?');
  assertStringIncludes(message, 'did you mean "timeoutSeconds"?');
  assertStringIncludes(message, "known are backgroundMs");
});

test("R1 an option that is misspelt is refused: without it commands might run where they must not", () => {
  const slips = {
    sandbx: "sandbox",
    SandBox: "sandbox",
    sand_box: "sandbox",
    elevate: "elevated",
    authorise: "authorize",
    onevent: "onEvent",
    node: "nodes",
    end_on_signal: "endOnSignals",
  };
  for (const [key, meant] of Object.entries(slips)) {
    const error = assertThrows(
      () =>
        createOffstage({
          runtime: createFakeRuntime(createMachine(), createFakeSpawner(), createFakeClock()),
          [key]: true,
        }),
      OffstageError,
      `${key}: unknown; did you mean "${meant}"?`,
    );
    assertEquals(error.code, "invalid");
  }
});

test("R1 what stands outside tools.exec is somebody else's and ignored", () => {
  const runtime = createFakeRuntime(createMachine(), createFakeSpawner(), createFakeClock());
  const config = {
    tools: { exec: { backgroundMs: 20 }, web: { timeoutMs: "x" } },
    agents: { list: [] },
    models: {},
    code: 1,
  };
  assertEquals(createOffstage({ runtime, ...config }).settings.backgroundMs, 20);
});

test("R1 tools.exec must be an object; absent and null are empty", () => {
  assertEquals(settings(undefined), settings({}));
  assertEquals(settings(null), settings({}));
  for (const wrong of ["fast", 5, [], true]) {
    assertEquals(refusal(wrong).problems.map((problem) => problem.key), ["tools.exec"]);
  }
});

test("C2 settings are frozen", () => {
  assert(Object.isFrozen(settings({})));
});

test("C2 C3 the environment is read when an instance is made, not before and not by another", () => {
  const machine = createMachine({ OPENCLAW_BASH_YIELD_MS: "50" });
  const runtime = createFakeRuntime(machine, createFakeSpawner(), createFakeClock());
  assertEquals(machine.environmentReads, 0);
  const first = createOffstage({ runtime });
  machine.environment["OPENCLAW_BASH_YIELD_MS"] = "60";
  const second = createOffstage({ runtime });
  assertEquals([first.settings.backgroundMs, second.settings.backgroundMs], [50, 60]);
});

test("C3 two instances never see each other's sessions, even with the same scope and runtime", async () => {
  const bench = open();
  const runtime = createFakeRuntime(bench.machine, bench.spawner, bench.clock);
  const other = createOffstage({ runtime }).agent("tester");
  const { id } = await background(bench);
  assertEquals((await act(other, { action: "list" })).sessions, []);
  assertEquals((await other.process({ action: "poll", sessionId: id })).isError, true);
  assertEquals((await act(bench.agent, { action: "list" })).sessions.length, 1);
});

test("C3 closing one instance ends nothing of another", async () => {
  const [one, two] = [open(), open()];
  const [mine, theirs] = [await background(one), await background(two)];
  const closing = one.offstage.close();
  await one.clock.advance(10_000);
  await closing;
  assertEquals([mine.child.signals.includes("SIGTERM group"), theirs.child.signals], [true, []]);
});

test("S2 an agent needs a scope that is not blank", () => {
  const { offstage } = open();
  for (const scope of ["", "  ", undefined, 5]) {
    assertEquals(assertThrows(() => offstage.agent(scope as string), OffstageError).code, "invalid");
  }
});

test("R1 options that are not what they ought to be are named, all at once", () => {
  const runtime = createFakeRuntime(createMachine(), createFakeSpawner(), createFakeClock());
  const wrong = {
    runtime,
    tools: [],
    sandbox: "bubblewrap",
    nodes: { builder: 5, other: createFakeSpawner() },
    elevated: { enabled: true, allowed: () => true, default: "on" },
    authorize: {},
    onEvent: "",
    requestHeartbeat: 1,
    endOnSignals: "no",
  };
  const { problems, message } = assertThrows(() => createOffstage(wrong as never), OffstageError);
  assertEquals(
    problems.map(({ key }) => key),
    ["tools", "sandbox", "nodes.builder", "elevated", "authorize", "onEvent", "requestHeartbeat", "endOnSignals"],
  );
  assertStringIncludes(message, "onEvent: expected a function but received");
  const list = (): Promise<readonly never[]> => Promise.resolve([]);
  const directory = { choose: () => Promise.reject(new Error("none")), list, close: () => Promise.resolve() };
  assertEquals(createOffstage({ runtime, nodes: directory }).settings.host, "auto");
  const absent = { runtime, sandbox: null, nodes: null, elevated: null, authorize: undefined, onEvent: null };
  assertEquals(createOffstage(absent as never).settings.host, "auto");
});
