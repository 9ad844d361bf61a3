/**
 * A machine made of plain data.
 *
 * @module
 */
import type { Clock, DirectoryStatus, Runtime, Spawner } from "../../mod.ts";

/** What a fake machine is like; a test changes it as it goes. */
export interface Machine {
  /** Environment of the host. */
  environment: Record<string, string>;
  /** How often the environment has been read. */
  environmentReads: number;
  cwd: string;
  home: string | undefined;
  platform: "posix" | "windows";
  /** Directories that are not simply there. */
  readonly directories: Map<string, DirectoryStatus>;
  /** Programs that can be run. */
  readonly programs: Set<string>;
  /** Loopback ports on which something listens. */
  readonly ports: Set<number>;
  /** What is to be called when the host ends. */
  readonly shutdownHooks: Set<() => Promise<void>>;
}

/** A machine with bash, in the directory `/project`. */
export function createMachine(environment: Record<string, string> = {}): Machine {
  return {
    environment: { SHELL: "/bin/bash", PATH: "/usr/bin:/bin", ...environment },
    environmentReads: 0,
    cwd: "/project",
    home: "/home/tester",
    platform: "posix",
    directories: new Map(),
    programs: new Set(["/bin/bash", "bash", "sh"]),
    ports: new Set(),
    shutdownHooks: new Set(),
  };
}

/** Random bytes that are not, so that ids are the same in every run: all 0, then all 1 …; uneven ones after all 255. */
function countingBytes(): (count: number) => Uint8Array {
  let next = 0;
  return (count) => {
    const turn = next++;
    return new Uint8Array(count).map((_, index) => turn + (turn >> 8) * index);
  };
}

/** The runtime of a machine. */
export function createFakeRuntime(machine: Machine, spawner: Spawner, clock: Clock): Runtime {
  return {
    name: "fake 1.0.0",
    platform: machine.platform,
    spawner,
    clock,
    environment: () => {
      machine.environmentReads += 1;
      return machine.environment;
    },
    cwd: () => machine.cwd,
    home: () => machine.home,
    directoryStatus: (path) => Promise.resolve(machine.directories.get(path) ?? "ok"),
    hasProgram: (nameOrPath) => Promise.resolve(machine.programs.has(nameOrPath)),
    portOpen: (port) => Promise.resolve(machine.ports.has(port)),
    randomBytes: countingBytes(),
    onShutdown: (end) => {
      machine.shutdownHooks.add(end);
      return () => void machine.shutdownHooks.delete(end);
    },
  };
}
