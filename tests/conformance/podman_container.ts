/**
 * A real container of podman, made of this machine's `/usr`: it takes no image, no registry and no network.
 *
 * @module
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, symlinkSync } from "node:fs";
import process from "node:process";
import { text } from "node:stream/consumers";
import { createOffstage } from "../../adapters/auto.ts";
import { container, type ContainerOptions } from "../../adapters/hosts/container.ts";
import type { ExecConfig } from "../../mod.ts";
import { closing } from "../closing.ts";
import { skipUnless } from "../skip.ts";
import { type Bench, eventually, processesWith } from "./agent.ts";
import { freshFolder, needs, proc } from "./machine.ts";

/** A container that runs until it is disposed of, or this process ends. */
export interface PodmanContainer extends AsyncDisposable {
  /** What takes a client there. */
  readonly options: ContainerOptions;
  /** Ends what runs in there, as its engine does it. */
  stop(): Promise<void>;
}

/** What engines and kernels differ in: with these it also starts in a container without the rights to raise limits. */
const RUN = [
  ...["run", "--rm", "-i", "--name", "box", "--network", "none", "--ipc", "host"],
  ...["--cgroups", "no-conmon", "--cgroup-parent", "/"], // or groups of the engine's own are left behind
  ...["--ulimit", "nofile=1024:1024", "--ulimit", "nproc=1000:1000"],
  ...["--volume", "/usr:/usr:ro", "--rootfs"],
];

/** Starts a container; rejects with what podman says if it cannot. */
export async function openPodmanContainer(): Promise<PodmanContainer> {
  const folder = await freshFolder();
  const root = `${folder.path}/root`;
  for (const name of ["dev", "etc", "proc", "sys", "tmp", "usr"]) mkdirSync(`${root}/${name}`, { recursive: true });
  for (const name of ["bin", "lib", "lib64", "sbin"]) symlinkSync(`usr/${name}`, `${root}/${name}`);
  const options = [
    ...["--root", `${folder.path}/storage`, "--runroot", `${folder.path}/run`, "--tmpdir", `${folder.path}/tmp`],
    ...["--storage-driver", "vfs", "--cgroup-manager", "cgroupfs", "--events-backend", "none"],
    ...(existsSync("/usr/sbin/runc") ? ["--runtime", "runc"] : []), // which knows machines with both kinds of cgroups
  ];
  // It ends with its input, so that it does not outlive this process
  const engine = spawn("podman", [...options, ...RUN, root, "/bin/sh", "-c", "echo up; exec cat"], { stdio: "pipe" });
  const complaints = text(engine.stderr);
  const ended = once(engine, "close");
  const stop = async (): Promise<void> => {
    engine.stdin.end();
    await ended;
  };
  const isUp = await Promise.race([once(engine.stdout, "data").then(() => true), ended.then(() => false)]);
  if (!isUp) {
    await folder[Symbol.asyncDispose]();
    throw new Error(await complaints);
  }
  return {
    options: { engine: "podman", target: "box", options },
    stop,
    [Symbol.asyncDispose]: async () => {
      await stop();
      // The engine clears up after each command by a process of its own, which would make the folder anew
      await eventually(() => processesWith(folder.path).length === 0, "the engine is done");
      await folder[Symbol.asyncDispose]();
    },
  };
}

/** A container and an instance whose node it is, both closed at the end of the test. */
export async function openInPodman(exec: ExecConfig = {}): Promise<Bench & { readonly box: PodmanContainer }> {
  const box = closing(await openPodmanContainer());
  const offstage = createOffstage({
    nodes: { box: container(box.options) },
    tools: { exec: { host: "node", killGraceMs: 500, ...exec } },
  });
  return closing({ offstage, agent: offstage.agent("tester"), box, [Symbol.asyncDispose]: () => offstage.close() });
}

/** `skip` of a test that needs such a container. */
export const podman: string | false = proc || await needs("podman") || await noContainer();

async function noContainer(): Promise<string | false> {
  if (process.getuid?.() !== 0) return skipUnless(false, "containers of podman are made as root here");
  try {
    await (await openPodmanContainer())[Symbol.asyncDispose]();
    return false;
  } catch (error) {
    return skipUnless(
      false,
      `podman cannot start a container: ${error instanceof Error ? error.message.trim() : error}`,
    );
  }
}
