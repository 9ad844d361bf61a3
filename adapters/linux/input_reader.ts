/**
 * Tells whether a process waits for input from a given stdin or terminal: Linux says which system call every thread
 * is blocked in, and with which arguments.
 *
 * @module
 */

import process from "node:process";
import { numbersIn, readLink, readMemory, readText } from "./proc_files.ts";
import type { ProcStat } from "./process_table.ts";

/** The input that a child was given. */
export interface InputSource {
  /** What `/proc/<pid>/fd/0` pointed at after the spawn, e.g. `socket:[123]` or `/dev/pts/4`. */
  readonly stdin: string;
  /** The session whose controlling terminal it is, if it is one: for processes that read `/dev/tty`. */
  readonly session: number;
}

/** Whether a process, or one of its threads, is blocked until the input it was given has something for it. */
export interface InputClaim {
  /** `"unknown"` when the kernel does not show it, e.g. for another user's process. */
  readonly waits: boolean | "unknown";
  /** Whether it waits for a socket too, as relays (`ssh`) always do: then it waits for input all the time. */
  readonly relays: boolean;
  /** The thread that waits. */
  readonly thread?: number;
}

/** Numbers of the system calls in which a process can wait for input. */
interface InputCalls {
  readonly read: readonly number[];
  readonly poll: readonly number[];
  readonly select: readonly number[];
  readonly epoll: readonly number[];
}

// Linux arch/x86/entry/syscalls/syscall_64.tbl: read readv splice recvfrom recvmsg · poll ppoll · select pselect6 · epoll_wait epoll_pwait epoll_pwait2
const X86_64: InputCalls = { read: [0, 19, 275, 45, 47], poll: [7, 271], select: [23, 270], epoll: [232, 281, 441] };
// Linux include/uapi/asm-generic/unistd.h, which every younger architecture uses; it has no poll, select, epoll_wait
const GENERIC: InputCalls = { read: [63, 65, 76, 207, 212], poll: [73], select: [72], epoll: [22, 441] };
const INPUT_CALLS: Readonly<Record<string, InputCalls>> = {
  x64: X86_64,
  arm64: GENERIC,
  riscv64: GENERIC,
  loong64: GENERIC,
};

// Kernel functions that sleep in a read of a pipe, a socket pair and a terminal, in old kernels and new ones.
const READING_CHANNELS: ReadonlySet<string> = new Set([
  "anon_pipe_read",
  "pipe_read",
  "pipe_wait",
  "unix_stream_read_generic",
  "unix_stream_data_wait",
  "n_tty_read",
  "wait_woken",
]);
const HIDDEN = "0"; // what `wchan` says of a process that we may not look into

// poll.h: POLLIN is 1 and EPOLLIN too; a struct pollfd is 8 bytes: int fd, short events, short revents.
const POLL_IN = 1;
const POLLFD_BYTES = 8;
const MAX_POLLED = 1024; // FD_SETSIZE; more would be a server, not somebody waiting for a line

/**
 * Whether a process is blocked until the given input has something for it.
 *
 * Certain where the kernel lets us see the system call: a read of that very file, or a poll, select or epoll that
 * watches it (readline, editors, event loops that listen to their stdin; and relays such as `ssh`, which always do).
 * Where it shows only the kernel function, a process that sleeps in some read and has that input as its descriptor 0
 * counts.
 */
export function waitsForInput(stat: ProcStat, source: InputSource): InputClaim {
  if (stat.state !== "S") return NO_CLAIM;
  const threads = numbersIn(`/proc/${stat.pid}/task`);
  const claims = threads.map((thread) => threadClaim(stat, thread, source));
  const answers = claims.map(({ waits }) => waits);
  const waits = answers.includes(true) || (answers.includes("unknown") && "unknown");
  const thread = threads[answers.indexOf(true)];
  return { waits, relays: claims.some(({ relays }) => relays), ...(thread !== undefined && { thread }) };
}

/** Tells the sleeps of a thread apart: how often it has gone to sleep by now; `undefined` when it has ended. */
export function sleepOf(pid: number, thread: number): string | undefined {
  const status = readText(`/proc/${pid}/task/${thread}/status`) ?? "";
  const [, count] = /^voluntary_ctxt_switches:\s*(\d+)/m.exec(status) ?? [];
  return count === undefined ? undefined : `${pid}.${thread}.${count}`;
}

const NO_CLAIM: InputClaim = { waits: false, relays: false };

function threadClaim(stat: ProcStat, thread: number, source: InputSource): InputClaim {
  const directory = `/proc/${stat.pid}/task/${thread}`;
  const calls = INPUT_CALLS[process.arch];
  const call = calls === undefined ? undefined : readText(`${directory}/syscall`);
  if (calls !== undefined && call !== undefined) {
    const files = descriptorsAwaited(stat, call, calls, source).map((descriptor) => fileOf(stat, descriptor));
    const others = files.filter((file) => !isSource(stat, file, source));
    return { waits: others.length < files.length, relays: others.some((file) => file?.startsWith("socket:")) };
  }
  const channel = readText(`${directory}/wchan`) ?? HIDDEN;
  if (channel === HIDDEN) return { waits: "unknown", relays: false };
  return { waits: READING_CHANNELS.has(channel) && isSource(stat, fileOf(stat, 0), source), relays: false };
}

function descriptorsAwaited(
  stat: ProcStat,
  line: string,
  calls: InputCalls,
  source: InputSource,
): readonly number[] {
  // `<number> <six arguments in hex> <stack pointer> <program counter>`, or `running`, or `-1 …` outside a call
  const [call = NaN, first = NaN, second = NaN] = line.split(" ").map(Number);
  if (calls.read.includes(call)) return [first];
  // A job in the background of a terminal gets none of its input, whatever it watches
  if (isTerminal(source.stdin) && stat.group !== stat.foreground) return [];
  if (calls.poll.includes(call)) return polled(stat.pid, first, second);
  if (calls.select.includes(call)) return selected(stat.pid, first, second);
  if (calls.epoll.includes(call)) return watched(stat.pid, first);
  return [];
}

function polled(pid: number, address: number, count: number): readonly number[] {
  const entries = readMemory(pid, address, Math.min(count, MAX_POLLED) * POLLFD_BYTES);
  if (entries === undefined) return [];
  const descriptors: number[] = [];
  for (let at = 0; at < entries.byteLength; at += POLLFD_BYTES) {
    if (entries.getInt16(at + 4, true) & POLL_IN) descriptors.push(entries.getInt32(at, true));
  }
  return descriptors;
}

function selected(pid: number, count: number, address: number): readonly number[] {
  if (address === 0) return [];
  const bits = readMemory(pid, address, Math.ceil(Math.min(count, MAX_POLLED) / 8));
  if (bits === undefined) return [];
  const descriptors: number[] = [];
  for (let fd = 0; fd < count && fd >> 3 < bits.byteLength; fd++) {
    if (bits.getUint8(fd >> 3) & (1 << (fd & 7))) descriptors.push(fd);
  }
  return descriptors;
}

function watched(pid: number, epoll: number): readonly number[] {
  const entries = readText(`/proc/${pid}/fdinfo/${epoll}`) ?? "";
  return [...entries.matchAll(/^tfd:\s*(\d+)\s+events:\s*([0-9a-f]+)/gm)]
    .filter(([, , events = ""]) => Number.parseInt(events, 16) & POLL_IN)
    .map(([, descriptor]) => Number(descriptor));
}

function fileOf(stat: ProcStat, descriptor: number): string | undefined {
  return readLink(`/proc/${stat.pid}/fd/${descriptor}`);
}

function isSource(stat: ProcStat, file: string | undefined, source: InputSource): boolean {
  if (file === "/dev/tty") return isTerminal(source.stdin) && stat.session === source.session;
  return file === source.stdin;
}

function isTerminal(stdin: string): boolean {
  return stdin.startsWith("/dev/pts/");
}
