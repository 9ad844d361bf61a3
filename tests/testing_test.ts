/**
 * The contract suite of `offstage/testing` can fail: every case does on a spawner that does nothing, and each of these
 * faults of an otherwise good spawner is found by the cases that are about it.
 *
 * @module
 */
import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { existsSync, readdirSync } from "node:fs";
import process from "node:process";
import { test } from "node:test";
import { type SpawnerCase, spawnerCases, type SpawnerCasesOptions } from "../adapters/testing.ts";
import { posix, proc, terminal, thisRuntime } from "./conformance/machine.ts";
import { closeLeaked, type Fault, FAULTS } from "./fakes/faulty_spawners.ts";
import { createFakeSpawner } from "./fakes/spawner.ts";

/** How long a case waits in vain for what a broken spawner never does; the others have as long as ever. */
const IN_VAIN_MS = 2_000;
const PATH = process.env["PATH"] ?? "";

/** The cases on a spawner of this runtime that has been spoilt. */
function casesOn({ spoil, found }: Fault): Promise<readonly SpawnerCase[]> {
  // Only a case whose message is that it waited for that very thing may be given little time to do so
  const waits = Object.values(found).some(({ source }) => source.includes("in vain"));
  return spawnerCases({
    create: async () => spoil((await thisRuntime()).spawner),
    cwd: process.cwd(),
    path: PATH,
    ...(waits && { limitMs: IN_VAIN_MS }),
    ...(existsSync("/proc/self/fd") && { descriptors: () => readdirSync("/proc/self/fd").length }),
  });
}

for (const fault of FAULTS) {
  const { does, found, needs } = fault;
  const skip = needs === "a terminal" ? terminal : needs === "/proc" && proc;
  test(`a spawner that ${does} is found out`, { skip: posix || skip }, async () => {
    const cases = await casesOn(fault);
    try {
      for (const [name, message] of Object.entries(found)) {
        const broken = cases.find((one) => one.name === name);
        assert(broken !== undefined, `there is a case "${name}"`);
        if (broken.skip === undefined) assertMatch((await assertRejects(broken.run, Error)).message, message);
      }
    } finally {
      closeLeaked();
    }
  });
}

const fake = (options: Partial<SpawnerCasesOptions>): Promise<readonly SpawnerCase[]> =>
  spawnerCases({ create: () => createFakeSpawner(), cwd: "/", limitMs: 30, descriptors: () => 0, ...options });

test("no case passes on a spawner that starts nothing", async () => {
  const cases = await fake({});
  const outcomes = await Promise.allSettled(cases.map(({ run }) => run()));
  assertEquals(cases.filter((_case, index) => outcomes[index]?.status === "fulfilled").map(({ name }) => name), []);
});

test("each case has a name of its own, which begins with how its commands are connected", async () => {
  const names = (await fake({})).map(({ name }) => name);
  assertEquals(new Set(names).size, names.length);
  assertEquals(names.filter((name) => !/^(?:pipes|terminal): /.test(name)), []);
});

test("what a host says it cannot do leaves cases out, with its own words", async () => {
  const whole = await fake({});
  assertEquals(whole.filter(({ skip }) => skip !== undefined), []);
  const host = createFakeSpawner({ pty: "no terminals on Mondays", groups: false });
  const left = await fake({ create: () => host });
  for (const { name, skip } of left.filter(({ name }) => name.startsWith("terminal: "))) {
    assertEquals(skip, "no terminals on Mondays", name);
  }
  const grouped = left.find(({ name }) => name === "pipes: a signal to the group reaches the child's children too");
  assertEquals(grouped?.skip, "this host has no process groups");
});

test("a declared gap leaves out its cases, with its reason, in terminals only if it says so", async () => {
  const skipped = async (gaps: SpawnerCasesOptions["gaps"]): Promise<readonly string[]> =>
    (await fake({ ...(gaps !== undefined && { gaps }) })).filter(({ skip }) => skip === "why").map(({ name }) => name);
  const both = await skipped({ "signal-names": "why" });
  const terminals = await skipped({ "terminal-signal-names": "why" });
  assertEquals(terminals, both.filter((name) => name.startsWith("terminal: ")));
  assert(terminals.length > 0 && terminals.length < both.length);
});

test("without a way to count descriptors the cases about them say so", async () => {
  const cases = await spawnerCases({ create: () => createFakeSpawner(), cwd: "/" });
  const uncounted = cases.filter(({ skip }) => skip === "nothing counts the descriptors of this process");
  assertEquals(uncounted.every(({ name }) => name.includes("descriptor")) && uncounted.length, 4);
});
