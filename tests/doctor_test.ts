/**
 * What the doctor reads out of a machine's files, and how findings are told.
 *
 * @module
 */
import { assertEquals } from "@std/assert";
import process from "node:process";
import { test } from "node:test";
import { type Finding, findingLines, missing, ok, problem } from "../adapters/cli/doctor/finding.ts";
import { lookAtMachine } from "../adapters/cli/doctor/machine.ts";
import { lookAtRuntime } from "../adapters/cli/doctor/packages.ts";
import { skipUnless } from "./skip.ts";

const LIMITS = `Limit                     Soft Limit           Hard Limit           Units
Max processes             3000                 4000                 processes
Max open files            1024                 524288               files
`;

/** A Linux machine in order, in a control group of version 2. */
const FILES: Readonly<Record<string, string>> = {
  "/proc/self/stat": "1",
  "/proc/1/stat": "1",
  "/proc/self/limits": LIMITS,
  "/proc/self/cgroup": "0::/app\n",
  "/sys/fs/cgroup/app/pids.max": "100\n",
  "/sys/fs/cgroup/app/pids.current": "7\n",
  "/proc/sys/kernel/pty/nr": "3\n",
  "/proc/sys/kernel/pty/max": "4096\n",
};

const skip = skipUnless(process.platform === "linux", "there is /proc on Linux only");

/** The findings of that machine with some files changed, but for what is about this very process. */
function look(changes: Readonly<Record<string, string | undefined>> = {}): readonly Finding[] {
  const files: Readonly<Record<string, string | undefined>> = { ...FILES, ...changes };
  return lookAtMachine((path) => files[path]).filter(({ topic }) => topic !== "user" && topic !== "process 1");
}

test("doctor tells what a machine allows", { skip }, () => {
  assertEquals(look(), [
    ok("/proc", "can be read"),
    ok("open files", "1024 (ulimit -n), at most 524288"),
    ok("processes", "7 of 100 of the control group, of the user 3000 (ulimit -u)"),
    ok("pty limit", "3 of 4096 in use"),
  ]);
});

test("doctor tells of a limit that is nearly used up, and what to do", { skip }, () => {
  const findings = look({
    "/proc/self/limits": LIMITS.replace("1024  ", "64    "),
    "/sys/fs/cgroup/app/pids.current": "99",
    "/proc/sys/kernel/pty/nr": "4000",
  });
  assertEquals(findings.map(({ topic, state }) => [topic, state]), [
    ["/proc", "ok"],
    ["open files", "problem"],
    ["processes", "problem"],
    ["pty limit", "problem"],
  ]);
  assertEquals(findings.slice(1).filter(({ todo }) => todo === undefined), []);
});

test("doctor knows control groups of version 1, of containers, and machines without", { skip }, () => {
  const none = { "/sys/fs/cgroup/app/pids.max": undefined, "/sys/fs/cgroup/app/pids.current": undefined };
  const processes = (changes: Readonly<Record<string, string>>): string | undefined =>
    look({ ...none, ...changes }).find(({ topic }) => topic === "processes")?.text.split(",")[0];
  const one = { "/sys/fs/cgroup/pids/app/pids.max": "50", "/sys/fs/cgroup/pids/app/pids.current": "5" };
  assertEquals(processes({ ...one, "/proc/self/cgroup": "8:pids:/app\n0::/\n" }), "5 of 50 of the control group");
  const own = { "/sys/fs/cgroup/pids.max": "20", "/sys/fs/cgroup/pids.current": "2" };
  assertEquals(processes({ ...own, "/proc/self/cgroup": "0::/\n" }), "2 of 20 of the control group");
  assertEquals(processes({ "/proc/self/cgroup": "0::/\n" }), "of the user 3000 (ulimit -u)");
  assertEquals(processes({ "/sys/fs/cgroup/app/pids.max": "max\n" }), "of the user 3000 (ulimit -u)");
});

test("doctor tells what cannot be read of /proc", { skip }, () => {
  assertEquals(look({ "/proc/1/stat": undefined })[0]?.state, "ok");
  assertEquals(look({ "/proc/1/stat": undefined })[0]?.text.includes("hidepid"), true);
  assertEquals(lookAtMachine(() => undefined)[0]?.state, "missing");
});

test("doctor knows runtimes that are too old", () => {
  const states = [
    "node 20.18.3",
    "node 20.19.0",
    "node 18.20.1",
    "node 26.1.0",
    "deno 1.46.3",
    "deno 2.9.6",
    "bun 1.3.9",
  ]
    .map((name) => lookAtRuntime(name).state);
  assertEquals(states, ["problem", "ok", "problem", "ok", "problem", "ok", "problem"]);
});

test("findings are told one to a line, problems first, then what is missing", () => {
  const lines = findingLines([
    ok("a", "well"),
    missing("bb", "none", "npm install b"),
    problem("c", "line 1\n  line 2"),
  ]);
  assertEquals(lines, ["! c   line 1; line 2", "- bb  none. npm install b", "  a   well"]);
});
