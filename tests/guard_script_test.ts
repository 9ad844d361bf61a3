/**
 * Whom the orphan guard ends (spec E39), on a `/proc` that is made up: nobody who only has the number of one of ours.
 *
 * @module
 */
import { spawn } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { assertEquals } from "@std/assert";
import { GUARD_SCRIPT } from "../adapters/linux/guard_script.ts";
import { closing, test } from "./closing.ts";
import { skipUnless } from "./skip.ts";

const skip = skipUnless(process.platform !== "win32", "the guard is a program for sh");

/** A process of the made-up table. Its group is its own unless said otherwise, its parent is 1. */
interface Fake {
  readonly start?: number;
  readonly group?: number;
  readonly parent?: number;
  readonly state?: string;
  readonly name?: string;
  readonly env?: readonly string[];
}

type Table = Readonly<Record<number, Fake>>;

/** What the script is told, and how the table changes: the events are taken in order. */
type Event = string | Table;

const NOW = 100_000; // ticks since boot
const AMBER = "OFFSTAGE_SESSION_ID=amber";
const MARK = "OFFSTAGE_INSTANCE=0123";

/** As shell text: what the script reads from stdin is done on the way if it is such a change, and not told. */
const PRELUDE = `
read() {
  while command read "$@"; do
    [ "\${op:-}" = '!' ] || return 0
    op=
    "$proc/change" "$leader"
  done
  return 1
}
kill() {
  signal=$2
  shift 3
  echo "$signal $*"
  [ "$signal" != KILL ] || exit 0
}
sleep() { "$proc/change" sleep; }
`;

/** Whom the script signals, e.g. `TERM -1001 1002`; it ends at its first SIGKILL. */
async function signalled(
  events: readonly Event[],
  afterTerm?: Table,
  uptime = true,
): Promise<readonly string[]> {
  const folder = await mkdtemp(join(tmpdir(), "offstage-proc-"));
  const remove = closing({ [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) });
  void remove;
  const tables = events.filter((event) => typeof event !== "string");
  for (const [index, table] of tables.entries()) await writeTable(join(folder, `table${index}`), table);
  await writeTable(join(folder, "tablesleep"), afterTerm ?? {});
  await writeFile(
    join(folder, "change"),
    `#!/bin/sh\ncd '${folder}' || exit\n[ "$1" != sleep ] || [ -e changes ] || exit 0\nrm -rf [0-9]*\ncp -r "table$1"/. .\n`,
    { mode: 0o755 },
  );
  if (afterTerm !== undefined) await writeFile(join(folder, "changes"), "");
  if (uptime) await writeFile(join(folder, "uptime"), `${(NOW / 100).toFixed(2)} 1.00\n`);
  let index = 0;
  const input = events.map((event) => typeof event === "string" ? `${event}\n` : `! ${index++}\n`).join("");
  const shell = spawn("sh", ["-c", PRELUDE + GUARD_SCRIPT, "guard", "0123", folder], {
    stdio: ["pipe", "pipe", "ignore"],
    env: { PATH: process.env["PATH"] ?? "" },
  });
  let output = "";
  shell.stdout.setEncoding("utf8").on("data", (text: string) => output += text);
  shell.stdin.on("error", () => {}); // it may be over before it has read everything
  shell.stdin.end(input);
  await new Promise((resolve) => shell.once("close", resolve));
  return output.split("\n").filter((line) => line !== "" && !line.startsWith("CONT"));
}

async function writeTable(folder: string, table: Table): Promise<void> {
  await mkdir(folder);
  for (const [pid, fake] of Object.entries(table)) {
    const { start = NOW - 5_000, group = Number(pid), parent = 1, state = "S", name = "bash", env = [] } = fake;
    const directory = join(folder, pid);
    await mkdir(directory);
    const fields = [state, parent, group, group, 0, -1, ...Array<number>(13).fill(0), start, 0, 0];
    await writeFile(join(directory, "stat"), `${pid} (${name}) ${fields.join(" ")}\n`);
    await writeFile(join(directory, "environ"), env.map((entry) => `${entry}\0`).join(""));
  }
}

const both = (whom: string): readonly string[] => [`TERM ${whom}`, `KILL ${whom}`];
const told = "+ 1001 amber";
const nobody: readonly string[] = [];

const cases: readonly (readonly [what: string, events: readonly Event[], expected: readonly string[]])[] = [
  ["a group it was told of", [{ 1001: {}, 1002: { group: 1001, parent: 1001 }, 7: {} }, told], both("-1001")],
  ["several", [{ 1001: {}, 1002: {}, 1003: {} }, told, "+ 1003 birch"], both("-1001 -1003")],
  ["nobody, if it was told that all is over", [{ 1001: { env: [AMBER] } }, told, "q"], nobody],
  ["not one that has ended", [{ 1001: {}, 1002: {} }, told, "+ 1002 birch", "- 1001 amber"], both("-1002")],
  ["not one that got the number of one that has ended", [
    { 1001: {} },
    told,
    "- 1001 amber",
    "+ 1001 birch",
    "- 1001 birch",
  ], nobody],
  ["a group whose unreaped leader keeps its number", [
    { 1001: {} },
    told,
    { 1001: { state: "Z" }, 1002: { group: 1001 } },
  ], both("-1001")],
  ["not a group that got the number: its leader is another one", [
    { 1001: {} },
    told,
    { 1001: { start: NOW - 10 }, 1002: { group: 1001, parent: 1001, start: NOW - 5 } },
  ], nobody],
  ["not a group without a leader, of which nobody said that it lost it", [
    { 1001: {} },
    told,
    { 1002: { group: 1001 } },
  ], nobody],
  ["a group without a leader that is older than the news of that", [
    { 1001: {} },
    told,
    { 1002: { group: 1001 } },
    told,
  ], both("-1001")],
  ["not one that is younger", [
    { 1001: {} },
    told,
    {},
    told,
    { 1002: { group: 1001, start: NOW + 100 } },
  ], nobody],
  ["who left the group, by the session's id", [
    { 1001: {}, 1002: { env: ["A=1", AMBER, "B=2"] }, 1003: { group: 7, env: [AMBER] } },
    told,
  ], both("-1001 -1002 1003")],
  ["a child that leads no group without the group it is in", [
    { 7: {}, 1001: { group: 7, env: [AMBER] }, 1002: { group: 7 } },
    told,
  ], both("1001")],
  ["nobody whose id only begins like it, or ends like it", [
    { 1002: { env: [`${AMBER}-otter`] }, 1003: { env: [`X_${AMBER}`] }, 1004: { env: ["X=\n" + AMBER] } },
    told,
  ], nobody],
  ["who carries the instance's mark and is too young to have been told of", [
    { 1001: { env: [MARK], start: NOW - 3 }, 1002: { env: ["OFFSTAGE_INSTANCE=01234"], start: NOW - 3 } },
  ], both("-1001")],
  ["not a daemon that a command has left behind on purpose", [{ 1001: { env: [MARK] } }], nobody],
  ["descendants that have cleared their environment and left the group", [
    { 1001: {}, 1002: { parent: 1001 }, 1003: { parent: 1002, group: 1002 }, 1004: { parent: 1003 }, 7: {} },
    told,
  ], both("-1001 -1002 -1004")],
  ["those that come before their parents in the table", [
    { 900: { parent: 950 }, 950: { parent: 1001 }, 1001: {} },
    told,
  ], both("-1001 -900 -950")],
  ["no zombies", [{ 1001: { state: "Z" }, 1002: { state: "Z", env: [AMBER] } }, told], nobody],
  [
    "whatever its name is",
    [{ 1001: { name: ") S 1 (" }, 1002: { name: "a\nb) Z 1", group: 1001 } }, told],
    both("-1001"),
  ],
];

for (const [what, events, expected] of cases) {
  test(`E39 the orphan guard ends ${what}`, { skip }, async () => assertEquals(await signalled(events), expected));
}

const later: readonly (readonly [what: string, before: Table, after: Table, expected: string | undefined])[] = [
  ["who has gone", { 1001: {} }, {}, undefined],
  [
    "a group by its members, when its leader has gone",
    {
      1001: {},
      1002: { group: 1001, parent: 1001 },
    },
    { 1002: { group: 1001 } },
    "-1001",
  ],
  ["not a group that got the number meanwhile", { 1001: {} }, { 1001: { start: NOW + 50 } }, undefined],
  [
    "not a process that got the number meanwhile",
    {
      1001: {},
      1002: { parent: 1001 },
    },
    { 1002: { start: NOW + 50 } },
    undefined,
  ],
  ["one that lost its parent to SIGTERM", { 1001: {}, 1002: { parent: 1001 } }, { 1002: {} }, "-1002"],
  ["what was started meanwhile", { 1001: {} }, { 1001: {}, 1005: { parent: 1001, start: NOW + 50 } }, "-1001 -1005"],
];

for (const [what, before, after, expected] of later) {
  test(`E39 the orphan guard's SIGKILL meets ${what}`, { skip }, async () => {
    const [term, kill] = await signalled([before, told], after);
    assertEquals(term?.startsWith("TERM -1001"), true);
    assertEquals(kill, expected === undefined ? undefined : `KILL ${expected}`);
  });
}

test("E39 the orphan guard does what it can without /proc: it ends the groups", { skip }, async () => {
  assertEquals(
    await signalled([told, "+ 1002 birch", "+ 1003 cedar", "- 1002 birch"], undefined, false),
    both("-1001 -1003"),
  );
});
