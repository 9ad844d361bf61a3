/**
 * What people configure: the options of an instance, the words of the command line, tokens, detach keys; and the streams
 * that a client reads.
 *
 * @module
 */
import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { spawn } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { createDetachKeys, parseDetachKeys } from "../../adapters/cli/detach_keys.ts";
import { serveOptions } from "../../adapters/cli/serve_options.ts";
import { givenTokens } from "../../adapters/cli/token_source.ts";
import { createEventParser } from "../../adapters/http/client/event_parser.ts";
import { createOffstage, explainSettings, OffstageError, type OffstageOptions } from "../../mod.ts";
import { OFFSTAGE } from "../conformance/cli.ts";
import { createFakeClock } from "../fakes/clock.ts";
import { createFakeRuntime, createMachine } from "../fakes/runtime.ts";
import { createFakeSpawner } from "../fakes/spawner.ts";
import { type Cut, cutOutput, decoded, textPiecesOf } from "./bytes.ts";
import { assertProblems } from "./parameters.ts";
import { type Change, configChanges, inputOf } from "./calls.ts";
import { type OpenPart, type Part, target } from "./target.ts";

/** The part. */
export const settings: Part = { name: "settings", runs: 60_000, open };

const word: fc.Arbitrary<string> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.constantFrom(
      ..."--host --port --token-file --allow-host --allow-origin --log --on-exit --grace --json --url --token --scope"
        .split(" "),
      ..."--help -h -- - --port=0 --port=-1 --port=1e3 --port= --log=text --grace=0x1 --allow-origin=x: --no-json -p --f"
        .split(" "),
      ..."127.0.0.1 [::1] 0 65536 NaN Infinity text off kill wait http://a http://a/b null x:1 __proto__ constructor exec"
        .split(" "),
    ),
  },
  { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 8 }) },
);

const SECRET = "a-secret-of-somebody";

const tokenText: fc.Arbitrary<string> = fc.array(
  fc.oneof(
    fc.constantFrom(
      `one:${SECRET}`,
      `*:${SECRET}`,
      `two:${SECRET}`,
      ":",
      "one:",
      `:${SECRET}`,
      "one:short",
      ",",
      "\n",
      "\r\n",
      " ",
      "#x",
      "a:b:",
    ),
    fc.constantFrom(
      `__proto__:${SECRET}`,
      "\ufeff",
      "\0",
      `one:${SECRET}é`,
      `one:${SECRET}\r`,
      `one :${SECRET} `,
      "x".repeat(5_000),
    ),
    fc.string({ unit: "binary", maxLength: 6 }),
  ),
  { maxLength: 5 },
).map((parts) => parts.join(""));

function open(): OpenPart {
  const folder = mkdtempSync(join(tmpdir(), "offstage-fuzz-"));
  const file = join(folder, "tokens.txt");
  return {
    targets: [
      target("config", 20, configChanges, configures),
      target(
        "environment",
        5,
        fc.dictionary(variable, fc.oneof(fc.string(), fc.constantFrom("1", "-5", "1e3", "9".repeat(400), " 7 "))),
        (env) => {
          assert(explainSettings({}, env).every(({ value }) => !Number.isNaN(value)), JSON.stringify(env));
        },
      ),
      target(
        "serve words",
        15,
        fc.array(word, { maxLength: 5 }),
        (words) => refusesOr(() => serveOptions(words), SECRET),
      ),
      target("tokens", 10, fc.tuple(tokenText, tokenText), ([variable, text]) => {
        writeFileSync(file, text);
        chmodSync(file, 0o600);
        process.env["OFFSTAGE_TOKENS"] = variable.replaceAll("\0", ""); // no environment has any
        refusesOr(() => {
          for (const [token, scope] of givenTokens(file)) assert(token.length >= 16 && scope.trim() !== "", token);
        }, SECRET);
        assertEquals(process.env["OFFSTAGE_TOKENS"], undefined);
      }),
      target(
        "detach keys",
        20,
        fc.tuple(
          fc.constantFrom("ctrl-p,ctrl-q", "a,a,b", "a", "", "a,b,a,c"),
          typed,
          fc.array(fc.nat(30), { maxLength: 3 }),
        ),
        detaches,
      ),
      target("events", 30, cutOutput, followsEvents),
      target("program", 0.05, fc.tuple(fc.constantFrom(...VERBS), fc.array(word, { maxLength: 3 })), runs),
    ],
    [Symbol.asyncDispose]: () => Promise.resolve(rmSync(folder, { recursive: true, force: true })),
  };
}

const variable = fc.constantFrom(
  "OPENCLAW_BASH_YIELD_MS",
  "PI_BASH_YIELD_MS",
  "OPENCLAW_BASH_MAX_OUTPUT_CHARS",
  "__proto__",
);

/** A refusal is one of ours, or of the parser of options, and tells no secret. */
function refusesOr(work: () => void, secret: string): void {
  try {
    work();
  } catch (error) {
    const { message, code } = error as { readonly message: string; readonly code?: unknown };
    assert(error instanceof OffstageError || String(code).startsWith("ERR_PARSE_ARGS"), String(error));
    assert(!message.includes(secret), "a secret is told");
  }
}

/** An instance is made, or every key that is wrong is named. One that is made has settings that work. */
function configures(changes: readonly Change[]): void {
  const runtime = createFakeRuntime(createMachine(), createFakeSpawner(), createFakeClock());
  const given = inputOf({ call: {}, changes: changes.filter((change) => !isTop(change)) }, {});
  const top = inputOf({ call: {}, changes: changes.filter(isTop) }, {}) as Partial<OffstageOptions>;
  try {
    const { settings } = createOffstage({ ...top, runtime, tools: { exec: given as never } });
    assert(Object.values(settings).every((value) => !Number.isNaN(value)), JSON.stringify(settings));
    for (const key of ["onEvent", "requestHeartbeat", "authorize"] as const) {
      assert(top[key] === undefined || top[key] === null || typeof top[key] === "function", `${key} was taken`);
    }
    assert(
      typeof (top.sandbox ?? runtime.spawner) !== "string" && typeof (top.nodes ?? {}) === "object",
      "hosts were taken",
    );
  } catch (error) {
    if (!(error instanceof OffstageError)) throw error;
    assertEquals(error.code, "invalid");
    assertProblems(error.problems);
  }
}

const TOP = ["sandbox", "nodes", "elevated", "authorize", "onEvent", "requestHeartbeat", "endOnSignals"];

function isTop(change: Change): boolean {
  return "set" in change && TOP.includes(change.set);
}

const typed: fc.Arbitrary<string> = fc.array(fc.constantFrom("a", "b", "c", "\x10", "\x11", "x"), { maxLength: 12 })
  .map((keys) => keys.join(""));

/** Up to the keys everything is passed on, however it comes. */
function detaches([names, text, cuts]: readonly [string, string, readonly number[]]): void {
  const keys = parseDetachKeys(names) ?? new Uint8Array();
  const sought = String.fromCharCode(...keys);
  const detach = createDetachKeys(keys);
  let sent = "";
  let detached = false;
  for (const piece of textPiecesOf(text, cuts)) {
    if (detached) break;
    const sifted = detach.sift(new TextEncoder().encode(piece));
    sent += decoded(sifted.send);
    ({ detached } = sifted);
  }
  const at = sought === "" ? -1 : text.indexOf(sought);
  assertEquals(detached, at >= 0);
  assertEquals(detached ? sent : sent + decoded(detach.release()), at >= 0 ? text.slice(0, at) : text);
}

/** However a stream is cut, its events are the same. */
function followsEvents({ bytes, cuts }: Cut): void {
  const text = `id: 1\ndata: ${decoded(bytes)}\r\n\r\nevent: x\rdata\r\r`;
  const parse = createEventParser();
  assertEquals(textPiecesOf(text, cuts).flatMap((piece) => parse(piece)), createEventParser()(text));
}

const VERBS = [
  "ps",
  "logs",
  "send",
  "kill",
  "wait",
  "rm",
  "serve",
  "doctor",
  "help",
  "attach",
  "nope",
  "--version",
  "",
  "\0",
];

/** The program ends with a code that it says it has, and shows nobody a stack. */
async function runs([verb, words]: readonly [string, readonly string[]]): Promise<void> {
  const args = [verb, ...words].map((each) => each.replaceAll("\0", "")).filter((each) => !/\p{Surrogate}/u.test(each));
  if (verb === "serve") args.push("--nope");
  const [program, ...own] = OFFSTAGE;
  const env = { ...process.env, OFFSTAGE_URL: "http://127.0.0.1:9", OFFSTAGE_TOKEN: SECRET };
  const child = spawn(program, [...own, ...args], { env, stdio: ["ignore", "pipe", "pipe"] });
  let printed = "";
  child.stdout.on("data", (data) => printed += data);
  child.stderr.on("data", (data) => printed += data);
  const code = await new Promise((resolve) => void child.on("close", resolve));
  assert(code === 0 || code === 125 || verb === "doctor", `exit code ${code}: ${printed.slice(0, 500)}`);
  assert(!/\n\s+at .*:\d+|node:internal/.test(printed), printed.slice(0, 1_000));
  assert(!printed.includes(SECRET), "a secret is told");
}
