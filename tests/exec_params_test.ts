/**
 * What `exec` takes, and what it says when it is given something else (spec section 2).
 *
 * @module
 */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { test } from "node:test";
import { type ExecParams, type NotStartedDetails, OffstageError } from "../mod.ts";
import { background, type Bench, ended, notStarted, open, start } from "./fakes/bench.ts";
import { EPOCH, settle } from "./fakes/clock.ts";

/** Calls with parameters that are wrong; nothing may have been started. */
async function refusedBy(bench: Bench, params: unknown): Promise<NotStartedDetails & { readonly text: string }> {
  const answer = bench.agent.exec(params as ExecParams);
  await settle();
  assertEquals(bench.spawner.children, [], `started with ${JSON.stringify(params)}`);
  const { details, text } = await notStarted(answer);
  assertEquals(bench.clock.pending, 0);
  return { ...details, text };
}

async function refused(params: unknown): Promise<NotStartedDetails & { readonly text: string }> {
  return await refusedBy(open(), params);
}

const TEXTS = [5, true, {}, ["a"]];
const NUMBERS = ["soon", "", "1e3x", "0x10", true, {}, [1], NaN];
const SWITCHES = ["yes", "true", 0, 1, {}, []];

/** Values that each key must refuse. */
const WRONG: Readonly<Record<keyof ExecParams, readonly unknown[]>> = {
  command: [...TEXTS, "", "  \n\t"],
  workdir: [...TEXTS, "a\0b"],
  env: ["A=1", 5, true, ["A"], { A: 1 }, { A: null }, { A: {} }, { "": "x" }, { "A=B": "x" }, { "A\0": "x" }, {
    A: "x\0",
  }],
  yieldMs: NUMBERS,
  background: SWITCHES,
  timeout: NUMBERS,
  timeoutSeconds: NUMBERS,
  pty: SWITCHES,
  cols: [...NUMBERS, 0, -1, 1001, 80.5, Infinity],
  rows: [...NUMBERS, 0, -1, 1001, 24.5, Infinity],
  stdin: ["inherit", "OPEN", true, 1],
  mergeStreams: SWITCHES,
  limits: [5, true, [1], "openFiles=64", { openFiles: "many" }, { openFiles: 0 }, { nofile: 64 }],
  notifyOnExit: SWITCHES,
  notifyOn: [
    ...TEXTS,
    "ready",
    {},
    { pattern: 5 },
    { pattern: "" },
    { pattern: "(" },
    { pattern: "x", once: 1 },
    {
      pattern: "x",
      cooldownMs: -1,
    },
    { pattern: "x", max: 0 },
    { pattern: "x", max: 1.5 },
    { pattern: "x", every: true },
    {
      pattern: "x",
      once: true,
      max: 2,
    },
    { pattern: "x", once: true, cooldownMs: 5 },
  ],
  elevated: SWITCHES,
  host: ["moon", "", 1, true],
  node: [...TEXTS, ""],
};

for (const [key, values] of Object.entries(WRONG)) {
  test(`E10 a wrong ${key} is refused by name and nothing is started`, async () => {
    for (const value of values) {
      const { reason, problems, text } = await refused({ command: "ls", [key]: value });
      assertEquals(reason, "invalid", text);
      assertEquals(problems.filter((problem) => problem.key.split(".")[0] !== key), [], text);
      assertMatch(text, new RegExp(`^The command was not run\\. ${key}`));
    }
  });
}

test("E1 E10 a call without a command says that it is required, whatever was given instead of an object", async () => {
  for (const nothing of [{}, undefined, null, { command: null }, { command: undefined }]) {
    const { problems } = await refused(nothing);
    assertEquals(problems.map(({ key }) => key), ["command"]);
    assertStringIncludes(problems[0]?.message ?? "", "required");
  }
  for (const wrong of ["ls", 5, true, ["ls"]]) {
    assertStringIncludes((await refused(wrong)).text, "expected an object");
  }
});

test("E10 every problem is told at once", async () => {
  const { problems, message } = await refused({ comand: "ls", yieldMs: "soon", cols: 0, env: { A: 1 }, pty: "yes" });
  assertEquals(problems.map(({ key }) => key).sort(), ["cols", "comand", "command", "env.A", "pty", "yieldMs"]);
  assertEquals(message, "The command was not run");
});

const MISSPELT: Readonly<Record<string, keyof ExecParams>> = {
  cmd: "command",
  Command: "command",
  cwd: "workdir",
  work_dir: "workdir",
  workingDirectory: "workdir",
  environment: "env",
  yield_ms: "yieldMs",
  yieldms: "yieldMs",
  timeout_seconds: "timeoutSeconds",
  timeoutMs: "timeoutSeconds",
  run_in_background: "background",
  tty: "pty",
  columns: "cols",
  merge_streams: "mergeStreams",
  sudo: "elevated",
  nod: "node",
};

for (const [wrong, right] of Object.entries(MISSPELT)) {
  test(`E10 [20] ${wrong} is refused and ${right} suggested`, async () => {
    const { problems } = await refused({ command: "ls", [wrong]: "x" });
    assertEquals(problems, [{ key: wrong, message: `unknown; did you mean "${right}"?` }]);
  });
}

test("E10 a key that is like none lists those that are known", async () => {
  assertMatch(
    (await refused({ command: "ls", qqqqqqqqqq: 1 })).text,
    /qqqqqqqqqq: unknown; known are command, workdir/,
  );
});

test("E10 a key that is named like something of the language is as unknown as any", async () => {
  for (const key of ["constructor", "toString", "__proto__"]) {
    const params = Object.defineProperty({ command: "ls" }, key, { value: 1, enumerable: true });
    const { problems } = await refused(params);
    assertEquals(problems.map((problem) => problem.key), [key]);
    assertMatch(problems[0]?.message ?? "", /^unknown; known are command, /);
  }
});

test("E3 all wrong variables are named, not only the first", async () => {
  const { problems } = await refused({ command: "ls", env: { "A=": "x", B: "y\0", LD_PRELOAD: "z", path: "." } });
  assertEquals(problems.map(({ key }) => key), ["env.A=", "env.B", "env.LD_PRELOAD", "env.path"]);
});

test("E3 variables reach the command as they are", async () => {
  const bench = open();
  const env = { A: "", B: "$HOME `id` \"'\n", "WITH SPACE": "é" };
  const { child } = await start(bench, { env });
  assertEquals(Object.fromEntries(Object.keys(env).map((name) => [name, child.spec.env[name]])), env);
});

test("E3 variables may have the names of what every object has, and none is lost", async () => {
  const bench = open();
  const env = JSON.parse('{"constructor": "a", "prototype": "b", "__proto__": "c"}') as Record<string, string>;
  const { child } = await start(bench, { env });
  for (const [name, value] of Object.entries(env)) {
    assertEquals(Object.getOwnPropertyDescriptor(child.spec.env, name)?.value, value, name);
  }
  const { problems } = await refused({ command: "ls", env: JSON.parse('{"__proto__": {}, "constructor": 1}') });
  assertEquals(problems.map(({ key }) => key), ["env.__proto__", "env.constructor"]);
});

test("R1 what throws when it is read is a problem of its key, and the others are told too", async () => {
  const throwing = Object.defineProperty({}, "A", {
    enumerable: true,
    get: () => {
      throw new Error("not today");
    },
  });
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  const { agent, spawner } = open();
  const { details } = await notStarted(agent.exec({ command: "ls", env: throwing, limits: proxy, cols: 0 }));
  assertEquals(details.problems.map(({ key }) => key), ["env", "limits", "cols"]);
  assertEquals(details.problems[0]?.message, "cannot be read: not today");
  const whole = await notStarted(agent.exec(proxy as ExecParams));
  assertEquals([whole.details.problems.length, spawner.children.length], [1, 0]);
});

test("R1 a getter is asked once: what was checked is what runs", async () => {
  const bench = open();
  let asked = 0;
  const { child } = await start(bench, {
    get workdir() {
      return `/${++asked}`;
    },
  }); // deno-fmt-ignore
  assertEquals([asked, child.spec.cwd], [1, "/1"]);
});

test("R1 an answer does not grow with what is wrong", async () => {
  const many = Object.fromEntries(
    Array.from({ length: 100_000 }, (_, index) => [`key${index}${"x".repeat(index % 50)}`, 1]),
  );
  for (const params of [many, { command: "ls", env: many }, { command: "ls", ["x".repeat(1_000_000)]: 1 }]) {
    const { text, problems } = await refused(params);
    assert(text.length < 30_000 && problems.length <= 41, `${text.length}`);
  }
  const { problems } = await refused(many);
  assertEquals(problems.at(-1), { key: "", message: "99961 more problems" });
});

test("E10 null counts as absent for every optional key", async () => {
  const bench = open();
  const nulls = Object.fromEntries(Object.keys(WRONG).map((key) => [key, null]));
  const { answer, child } = await start(bench, { ...nulls, command: "ls" });
  child.end();
  assertEquals((await ended(answer)).details.ok, true);
});

test("E4 yieldMs is clamped to 10…120000, numbers may come as strings, without it backgroundMs counts", async () => {
  const rows = [[-1, 10], [3, 10], ["50", 50], [1e12, 120_000], [Infinity, 120_000], [undefined, 10_000]] as const;
  for (const [given, ms] of rows) {
    const bench = open();
    const { answer } = await start(bench, given === undefined ? {} : { yieldMs: given as number });
    let answered = false;
    void answer.then(() => (answered = true));
    await bench.clock.advance(ms - 1);
    assertEquals(answered, false, `yieldMs ${given} before ${ms}`);
    await bench.clock.advance(1);
    assertEquals(answered, true, `yieldMs ${given} at ${ms}`);
  }
});

test("E4 background: true and yieldMs: 0 yield at once", async () => {
  for (const params of [{ background: true }, { yieldMs: 0 }, { yieldMs: "0" as unknown as number }]) {
    const bench = open();
    assertEquals((await background(bench, { background: false, ...params })).details.status, "running");
    assertEquals(bench.clock.monotonic(), 0);
  }
});

test("E5 timeout and timeoutSeconds are the same; both given and different is an error", async () => {
  assertEquals((await refused({ command: "ls", timeout: 1, timeoutSeconds: 2 })).problems.map(({ key }) => key), [
    "timeoutSeconds",
  ]);
  const rows: readonly Partial<ExecParams>[] = [{ timeout: 2.5 }, { timeoutSeconds: 2.5 }, {
    timeout: 2.5,
    timeoutSeconds: 2.5,
  }, { timeout: "2.5" as unknown as number }];
  for (const params of rows) {
    assertEquals((await background(open(), params)).details.timeoutAt, EPOCH + 2_500);
  }
});

test("E5 [52] 0, negative and Infinity are no timeout; the default is timeoutSeconds of the settings", async () => {
  for (const timeout of [0, -1, -1e12, Infinity]) {
    const { details, text } = await background(open(), { timeout });
    assertEquals(details.timeoutAt, null);
    assertStringIncludes(text, "no timeout");
  }
  assertEquals((await background(open({ timeoutSeconds: 60 }))).details.timeoutAt, EPOCH + 60_000);
  assertEquals((await background(open({ timeoutSeconds: 0 }))).details.timeoutAt, null);
  assertEquals((await background(open({ timeoutSeconds: 60 }), { timeout: 0 })).details.timeoutAt, null);
});

test("E6 a terminal has 120 × 30 cells unless cols and rows say otherwise", async () => {
  const bench = open();
  assertEquals((await background(bench, { pty: true })).child.spec.terminal, { cols: 120, rows: 30 });
  const sized = await background(bench, { pty: true, cols: "80" as unknown as number, rows: 1000 });
  assertEquals(sized.child.spec.terminal, { cols: 80, rows: 1000 });
  assertEquals((await background(bench)).child.spec.terminal, undefined);
});

test("E6 [118] without a terminal the command runs on pipes and the answer says why", async () => {
  const bench = open({}, { host: { pty: "no back-end is installed" } });
  const { details, child, text } = await background(bench, { pty: true });
  assertEquals([details.pty, details.stdin, child.spec.terminal], [false, "open", undefined]);
  assertStringIncludes(text, "no back-end is installed");
  assert(details.warnings.length === 1);
});

test("E6 what the spawner says about the start is in the answer", async () => {
  const bench = open();
  bench.spawner.warnings = ["the terminal was refused: the command runs on pipes"];
  assertEquals((await background(bench)).details.warnings, bench.spawner.warnings);
});

test("E7 stdin is open for whoever means to talk to the session, else closed, and can be set", async () => {
  const rows: readonly (readonly [Partial<ExecParams>, "open" | "closed"])[] = [
    [{}, "closed"],
    [{ background: false }, "closed"],
    [{ background: true }, "open"],
    [{ yieldMs: 500 }, "open"],
    [{ yieldMs: 0 }, "open"],
    [{ pty: true }, "open"],
    [{ pty: true, stdin: "closed" }, "open"], // a terminal is always both ways
    [{ background: true, stdin: "closed" }, "closed"],
    [{ stdin: "open" }, "open"],
  ];
  for (const [params, stdin] of rows) {
    const { child } = await start(open(), params);
    assertEquals(child.spec.stdin, stdin, JSON.stringify(params));
  }
});

test("E37 a command of 1 MiB is taken byte for byte, a longer one is refused with both numbers", async () => {
  const bench = open();
  const command = "€".repeat(349_525) + "x";
  const { child } = await start(bench, { command });
  const pieces = Object.entries(child.spec.env).filter(([name]) => name.startsWith("OFFSTAGE_COMMAND_"));
  assertEquals(pieces.map(([, piece]) => piece).join(""), command);
  assertMatch((await refused({ command: `${command}y` })).text, /1048577.*1048576/);
});

test("E2 [64] a directory that is not there is named and nothing is started", async () => {
  const rows = [["missing", "does not exist"], ["not-a-directory", "is not a directory"], [
    "not-permitted",
    "permission denied",
  ]] as const;
  for (const [status, words] of rows) {
    const bench = open();
    bench.machine.directories.set("/no/such", status);
    const { reason, text } = await refusedBy(bench, { command: "ls", workdir: "/no/such" });
    assertEquals(reason, "spawn-error");
    assertMatch(text, new RegExp(`^working directory.*${words}.*/no/such`));
  }
});

test("E2 without workdir no directory is looked at, unless the start fails: then it is named", async () => {
  const bench = open();
  bench.machine.directories.set(bench.machine.cwd, "missing");
  assertEquals((await background(bench)).child.spec.cwd, bench.machine.cwd);
  const other = open();
  other.machine.directories.set(other.machine.cwd, "missing");
  other.spawner.failure = new OffstageError("spawn-failed", "Cannot start bash");
  const { reason, text } = await refusedBy(other, { command: "ls" });
  assertEquals([reason, text], ["spawn-error", `working directory does not exist: ${other.machine.cwd}`]);
  other.machine.directories.clear();
  assertEquals((await refusedBy(other, { command: "ls" })).text, "Cannot start bash");
});

test("E2 workdir: empty is the default, ~ is the home, relative starts at the default", async () => {
  const rows = [
    ["", "/project"],
    ["~", "/home/tester"],
    ["~/x", "/home/tester/x"],
    ["a/b", "/project/a/b"],
    [
      "./a//b/.",
      "/project/a/b",
    ],
    ["/", "/"],
    ["/srv", "/srv"],
    ["~other", "/project/~other"],
  ] as const;
  for (const [workdir, cwd] of rows) {
    assertEquals((await start(open(), { workdir })).child.spec.cwd, cwd, workdir);
  }
});
