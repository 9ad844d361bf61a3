/**
 * Spawners with one thing wrong, each made from a good one, and which cases of `offstage/testing` have to notice.
 *
 * @module
 */

import { closeSync, openSync } from "node:fs";
import process from "node:process";
import type { Child, Exit, OutputSink, Spawner, SpawnSpec } from "../../mod.ts";

/** A spawner with one thing wrong. */
export interface Fault {
  /** What is wrong with it, as the continuation of "a spawner that". */
  readonly does: string;
  /** Cases that have to notice, and what they say. */
  readonly found: Readonly<Record<string, RegExp>>;
  /** What the machine has to have for it to show. */
  readonly needs?: "a terminal" | "/proc";
  /** Breaks it. */
  readonly spoil: (good: Spawner) => Spawner;
}

const withSpec = (change: (spec: SpawnSpec) => SpawnSpec) => (good: Spawner): Spawner => ({
  ...good,
  spawn: (spec, sink) => good.spawn(change(spec), sink),
});
const withSink = (change: (sink: OutputSink) => OutputSink) => (good: Spawner): Spawner => ({
  ...good,
  spawn: (spec, sink) => good.spawn(spec, change(sink)),
});
const withChild = (change: (child: Child) => Partial<Child>) => (good: Spawner): Spawner => ({
  ...good,
  spawn: async (spec, sink) => {
    const child = await good.spawn(spec, sink);
    return { ...child, ...change(child) };
  },
});
const withFailure = (change: (error: unknown, sink: OutputSink) => unknown) => (good: Spawner): Spawner => ({
  ...good,
  spawn: (spec, sink) =>
    good.spawn(spec, sink).catch((error) => {
      throw change(error, sink);
    }),
});

const exitOf = (change: (exit: Exit) => Exit) => withChild((child) => ({ exited: child.exited.then(change) }));

const leaked: number[] = [];

/** Closes what the spawner that forgets a descriptor has opened. */
export function closeLeaked(): void {
  for (const descriptor of leaked.splice(0)) closeSync(descriptor);
}

/** Every fault. */
export const FAULTS: readonly Fault[] = [
  // how it starts
  {
    does: "trims arguments",
    found: { "pipes: arguments arrive untouched": /^the arguments: expected/ },
    spoil: withSpec((spec) => ({ ...spec, argv: spec.argv.map((word) => word.trim()) as [string, ...string[]] })),
  },
  {
    does: "adds to the environment",
    found: { "pipes: the environment is what was given and nothing else": /^the environment: expected/ },
    spoil: withSpec((spec) => ({ ...spec, env: { ...spec.env, LEAK: "1" } })),
  },
  {
    does: "ignores the working directory",
    found: { "pipes: the working directory is the one that was given": /^the directory: expected/ },
    spoil: withSpec((spec) => ({ ...spec, cwd: "/" })),
  },
  {
    does: "leaves a closed stdin open",
    found: { "pipes: a closed stdin is at its end at once": /in vain for the exit/ },
    spoil: withSpec((spec) => ({ ...spec, stdin: "open" })),
  },
  {
    does: "tells somebody else's process id",
    found: { "pipes: the process id, where there is one, is that of the command itself": /^the process id: expected/ },
    spoil: withChild(() => ({ pid: process.pid })),
  },
  {
    does: "uses pipes where a terminal was asked for",
    found: {
      "terminal: a terminal is what 0, 1, 2 and /dev/tty are": /^what 0, 1, 2/,
      "terminal: both streams come as one, in the order of the writes": /^the output: expected|came from "std/,
    },
    needs: "a terminal",
    spoil: withSpec(({ terminal: _size, ...spec }) => spec),
  },
  {
    does: "fails to start with an error of the system",
    found: { "pipes: a program that does not exist is a spawn failure that names it": /got Error: ENOENT/ },
    spoil: withFailure(() => new Error("ENOENT")),
  },
  {
    does: "tells the end of what was not started",
    found: {
      "pipes: a file that is no program is a spawn failure that names it": /a spawn that failed called its sink/,
    },
    spoil: withFailure((error, sink) => {
      sink.end();
      return error;
    }),
  },
  {
    does: "starts a shell that does not find the program",
    found: { "pipes: a program that does not exist is a spawn failure that names it": /but it was done/ },
    spoil: withSpec((spec) => ({ ...spec, argv: ["sh", "-c", 'exec "$0" "$@"', ...spec.argv] })),
  },

  // how it ends
  {
    does: "tells every exit as 0",
    found: { "pipes: the exit code is the command's, from 0 to 255": /^the exit of "exit \d+": expected/ },
    spoil: exitOf(() => ({ code: 0 })),
  },
  {
    does: "tells signals as codes",
    found: { "pipes: a death by signal is told by the signal's name": /^the exit: expected/ },
    spoil: exitOf((exit) => exit.signal === undefined ? exit : { code: 128 }),
  },
  {
    does: "tells the exit only when the output is over",
    found: {
      "pipes: the exit does not wait for a left-behind process, whose output still arrives": /in vain for the exit;/,
    },
    spoil: (good) => ({
      ...good,
      spawn: async (spec, sink) => {
        let end = (): void => {};
        const over = new Promise<void>((resolve) => end = resolve);
        const child = await good.spawn(spec, {
          ...sink,
          end: () => {
            sink.end();
            end();
          },
        });
        return { ...child, exited: over.then(() => child.exited) };
      },
    }),
  },
  {
    does: "stops reading at the exit",
    found: {
      "pipes: the exit does not wait for a left-behind process, whose output still arrives":
        /in vain for|not over|last line/,
    },
    spoil: (good) => ({
      ...good,
      spawn: async (spec, sink) => {
        const child = await good.spawn(spec, sink);
        void child.exited.then(() => child.release());
        return child;
      },
    }),
  },

  // what it passes on
  {
    does: "mixes up the streams",
    found: { "pipes: each stream comes under its own name and in order": /^stdout: expected/ },
    spoil: withSink((sink) => ({ ...sink, chunk: (_stream, bytes) => sink.chunk("stdout", bytes) })),
  },
  {
    does: "invents a stream",
    found: { "pipes: a closed stdin is at its end at once": /a chunk came from "terminal" where there is/ },
    spoil: withSink((sink) => ({ ...sink, chunk: (_stream, bytes) => sink.chunk("terminal", bytes) })),
  },
  {
    does: "loses the last chunk",
    found: {
      "pipes: the last output is never lost, 5 times of 20 000 lines": /round 1: \d+ of 108894 characters came/,
      "pipes: the last output is never lost, 20 times of one word": /^the output of round 1: expected/,
    },
    spoil: withSink((sink) => {
      let held: Parameters<OutputSink["chunk"]> | undefined;
      return {
        ...sink,
        chunk: (...chunk) => {
          if (held !== undefined) sink.chunk(...held);
          held = chunk;
        },
      };
    }),
  },
  {
    does: "makes text of its output",
    found: { "pipes: 1 MiB of binary arrives byte by byte": /they differ at 128,/ },
    spoil: withSink((sink) => ({
      ...sink,
      chunk: (stream, bytes) => sink.chunk(stream, new TextEncoder().encode(new TextDecoder().decode(bytes))),
    })),
  },
  {
    does: "uses the memory of a chunk again",
    // Chunks that follow one another closely are spoilt before anybody has looked at the first: then the whole tells
    found: {
      "pipes: the memory of a chunk is not written to again":
        /^the first chunks, looked at again: expected|^Expected that the output is what was printed$/,
    },
    spoil: withSink((sink) => {
      const memory = new Uint8Array(1_048_576);
      return {
        ...sink,
        chunk: (stream, bytes) => {
          memory.set(bytes);
          sink.chunk(stream, memory.subarray(0, bytes.length));
        },
      };
    }),
  },
  {
    does: "tells the end before the last chunk",
    found: { "pipes: a closed stdin is at its end at once": /a chunk of 1 bytes came after the end/ },
    spoil: withSink((sink) => ({
      ...sink,
      end: () => {
        sink.end();
        sink.chunk("stdout", Uint8Array.of(10));
      },
    })),
  },
  {
    does: "tells the end twice",
    found: { "pipes: a closed stdin is at its end at once": /the end was told twice/ },
    spoil: withSink((sink) => ({
      ...sink,
      end: () => {
        sink.end();
        sink.end();
      },
    })),
  },
  {
    does: "never tells the end",
    found: { "pipes: a closed stdin is at its end at once": /in vain for the end of the output after the exit/ },
    spoil: withSink((sink) => ({ ...sink, end: () => {} })),
  },

  // what it takes
  {
    does: "says that a write is done when it has begun",
    found: {
      "pipes: a write waits until the child reads": /a write that nobody reads is not done yet/,
      "pipes: a write that nobody reads is refused when the child ends": /but it was done/,
      "pipes: writes to a child that has closed its stdin are refused, each of them": /but it was done/,
      "terminal: a write waits until the child reads": /a write that nobody reads is not done yet/,
    },
    spoil: withChild((child) => ({
      write: (bytes) => {
        child.write(bytes).catch(() => {});
        return Promise.resolve();
      },
    })),
  },
  {
    does: "refuses a write with an error of the system",
    found: { "pipes: a write after the end of input is refused": /got Error: EPIPE/ },
    spoil: withChild((child) => ({
      write: (bytes) =>
        child.write(bytes).catch(() => {
          throw new Error("EPIPE");
        }),
    })),
  },
  {
    does: "does not end the input",
    found: { "pipes: 1 MiB of binary is read byte by byte, and then the end": /in vain for the exit/ },
    spoil: withChild(() => ({ endInput: () => Promise.resolve() })),
  },
  {
    does: "hangs up where the end of input is to be typed",
    found: { "terminal: the end of input is left to the caller, who types it": /"stdin-closed"|no longer reads|vain/ },
    needs: "a terminal",
    spoil: withChild((child) => ({ endInput: () => Promise.resolve(child.release()) })),
  },

  // whom it signals
  {
    does: "signals the child where the group is meant",
    found: { "pipes: a signal to the group reaches the child's children too": /in vain for "inner\\n"/ },
    spoil: withChild((child) => ({ signal: (name) => child.signal(name, "child") })),
  },
  {
    does: "signals the group where the child is meant",
    found: { "pipes: a signal to the child alone reaches nobody else": /the child's child got nothing/ },
    spoil: withChild((child) => ({ signal: (name) => child.signal(name, "group") })),
  },
  {
    does: "claims to have sent every signal",
    found: { "pipes: every method is safe after the exit": /^a signal to the child: expected "gone", got "sent"/ },
    spoil: withChild((child) => ({
      signal: (name, target) => {
        child.signal(name, target);
        return "sent";
      },
    })),
  },
  {
    does: "throws when an ended child is signalled",
    found: { "pipes: every method is safe after the exit": /ESRCH/ },
    spoil: withChild((child) => ({
      signal: (name, target) => {
        const outcome = child.signal(name, target);
        if (outcome === "gone") throw new Error("ESRCH");
        return outcome;
      },
    })),
  },

  // how it lets go
  {
    does: "lets nothing go",
    found: {
      "pipes: a release closes the child's streams, tells the end, and signals nothing":
        /in vain for the end of the output/,
    },
    spoil: withChild(() => ({ release: () => {} })),
  },
  {
    does: "ends the child when it lets go",
    found: {
      "pipes: a release closes the child's streams, tells the end, and signals nothing":
        /^the exit of a child that reads until the end: expected/,
    },
    spoil: withChild((child) => ({
      release: () => {
        child.signal("SIGKILL", "group");
        child.release();
      },
    })),
  },
  {
    does: "forgets a descriptor",
    found: {
      "pipes: neither ended children nor failed spawns leave a descriptor": /in vain for the descriptors to be closed/,
    },
    needs: "/proc",
    spoil: withSpec((spec) => {
      leaked.push(openSync("/dev/null", "r"));
      return spec;
    }),
  },

  // what its terminals are
  {
    does: "gives every terminal the usual size",
    found: { "terminal: it has the size that was asked for from the start": /^what stty says: expected/ },
    needs: "a terminal",
    spoil: withSpec((spec) => ({ ...spec, terminal: { cols: 80, rows: 24 } })),
  },
  {
    does: "does not resize",
    found: {
      "terminal: a resize is seen by stty and told by SIGWINCH, down to 1 and up to 1000": /in vain for "11 33/,
    },
    needs: "a terminal",
    spoil: withChild(() => ({ resize: () => {} })),
  },

  // what it sees
  {
    does: "does not see who left the group",
    found: {
      "pipes: the tree has the group's members and those that left it": /in vain for the process tree "sh; sleep/,
    },
    needs: "/proc",
    spoil: withChild((child) => {
      const { inspector } = child;
      if (inspector === undefined) return {};
      const tree = async () => (await inspector.tree()).filter(({ inGroup }) => inGroup);
      // The case cannot take down whom it does not see
      const endStrays = async (): Promise<void> => (await inspector.tree()).forEach(({ signal }) => signal("SIGKILL"));
      return { inspector: { ...inspector, tree }, release: () => void endStrays().then(child.release) };
    }),
  },
  {
    does: "never sees a reader",
    found: { "pipes: the process that waits for input is told": /in vain for the reader to be cat/ },
    needs: "/proc",
    spoil: withChild(({ inspector }) =>
      inspector === undefined ? {} : { inspector: { ...inspector, reader: () => Promise.resolve(undefined) } }
    ),
  },
  {
    does: "has no inspector and does not say so",
    found: { "pipes: the tree has nobody else's processes": /has no inspector: say why with the gap "inspector"/ },
    spoil: (good) => ({
      ...good,
      spawn: async (spec, sink) => {
        const { inspector: _inspector, ...child } = await good.spawn(spec, sink);
        return child;
      },
    }),
  },
];
