/**
 * What the machine allows: how many files, processes and terminals, and as whom.
 *
 * @module
 */
import process from "node:process";
import { readText } from "../../linux/proc_files.ts";
import { type Finding, missing, ok, problem } from "./finding.ts";

/** Fewer are soon used up: a session takes three, and Offstage itself and its host some dozens. */
const FEW_FILES = 256;

/** Above this part of a limit it is about to be hit. */
const NEARLY_ALL = 0.9;

/** Where the limit of a control group is, for its path: of version 2, as a container sees its own, of version 1. */
const PIDS_FOLDERS = [
  (path: string) => `/sys/fs/cgroup${path}`,
  () => "/sys/fs/cgroup",
  (path: string) => `/sys/fs/cgroup/pids${path}`,
] as const;

/** Reads a file of the system; `undefined` when it cannot be read. */
export type ReadFile = (path: string) => string | undefined;

/** Everything that can be read about it; on other systems than Linux that is little. */
export function lookAtMachine(read: ReadFile = readText): readonly Finding[] {
  return [
    ...lookAtProc(read),
    ...lookAtFiles(read),
    ...lookAtProcesses(read),
    ...lookAtTerminals(read),
    ...lookAtSelf(),
  ];
}

function lookAtProc(read: ReadFile): readonly Finding[] {
  if (process.platform !== "linux") return [missing("/proc", `not on ${process.platform}`)];
  if (read("/proc/self/stat") === undefined) return [missing("/proc", "cannot be read", "On Deno: --allow-all")];
  const hidesOthers = read("/proc/1/stat") === undefined;
  return [ok("/proc", hidesOthers ? "can be read, but for other users' processes (hidepid)" : "can be read")];
}

function lookAtFiles(read: ReadFile): readonly Finding[] {
  const [, soft, hard] = /^Max open files\s+(\w+)\s+(\w+)/m.exec(read("/proc/self/limits") ?? "") ?? [];
  if (soft === undefined) return [];
  const text = `${soft} (ulimit -n), at most ${hard}`;
  return [
    Number(soft) < FEW_FILES ? problem("open files", text, "Raise it: ulimit -n 4096") : ok("open files", text),
  ];
}

function lookAtProcesses(read: ReadFile): readonly Finding[] {
  const [, ofUser] = /^Max processes\s+(\w+)/m.exec(read("/proc/self/limits") ?? "") ?? [];
  if (ofUser === undefined) return [];
  const [, path = "/"] = /^(?:0:|\d+:pids):(\/.*)$/m.exec(read("/proc/self/cgroup") ?? "") ?? [];
  const folders = PIDS_FOLDERS.map((folder) => folder(path === "/" ? "" : path));
  const group = folders.find((folder) => read(`${folder}/pids.max`) !== undefined);
  const most = read(`${group}/pids.max`)?.trim() ?? "max";
  const current = read(`${group}/pids.current`)?.trim() ?? "0";
  const user = `of the user ${ofUser} (ulimit -u)`;
  if (most === "max") return [ok("processes", `${user}, no limit of a control group`)];
  const text = `${current} of ${most} of the control group, ${user}`;
  return [
    Number(current) > NEARLY_ALL * Number(most)
      ? problem("processes", text, "Raise pids.max of the group; docker run --pids-limit")
      : ok("processes", text),
  ];
}

function lookAtTerminals(read: ReadFile): readonly Finding[] {
  const [used, most] = ["nr", "max"].map((name) => read(`/proc/sys/kernel/pty/${name}`)?.trim());
  if (used === undefined || most === undefined) return [];
  const text = `${used} of ${most} in use`;
  return [
    Number(used) > NEARLY_ALL * Number(most)
      ? problem("pty limit", text, "Raise it: sysctl kernel.pty.max=8192")
      : ok("pty limit", text),
  ];
}

function lookAtSelf(): readonly Finding[] {
  const findings: Finding[] = [];
  if (process.pid === 1) {
    const todo = "Give the container an init: docker run --init";
    findings.push(problem("process 1", "orphans of ended commands are reaped by nobody", todo));
  }
  if (process.getuid?.() === 0) {
    findings.push(missing("user", "root: commands may do all, and limits do not bind them", "Run it as somebody else"));
  }
  return findings;
}
