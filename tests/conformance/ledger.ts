/**
 * This runtime with a ledger: what the core has taken from it and not given back.
 *
 * @module
 */
import type { Child, OrphanGuard, OutputSink, Runtime, SpawnSpec } from "../../mod.ts";
import { thisRuntime } from "./machine.ts";

/** What can be out. */
export type Account =
  | "timers"
  | "shutdown hooks"
  | "guards"
  | "running children"
  | "children not let go of"
  | "outputs without an end"
  | "abort listeners";

/** The books of one instance. */
export interface Ledger {
  /** The runtime that is counted. */
  readonly runtime: Runtime;
  /** A signal that never fires, whose listeners are counted. */
  readonly signal: AbortSignal;
  /** What is out now, with how many. Empty when everything has been given back. */
  outstanding(): Readonly<Partial<Record<Account, number>>>;
  /** What happened against the rules of the seam: output after the end, a second end. */
  readonly faults: readonly string[];
  /** How many sessions have been started. */
  started(): number;
  /** How many of them are still in memory. Ask after a garbage collection. */
  inMemory(): number;
}

/** Opens the books on the runtime that the test runs on. */
export async function openLedger(): Promise<Ledger> {
  const runtime = await thisRuntime();
  const out = new Map<Account, number>();
  const faults: string[] = [];
  let sinks: WeakRef<OutputSink>[] = []; // a session and its sink hold each other
  let started = 0;

  /** Counts something as out until the answer is called. */
  function take(account: Account): () => void {
    out.set(account, (out.get(account) ?? 0) + 1);
    let isOut = true;
    return () => {
      if (isOut) out.set(account, (out.get(account) ?? 0) - 1);
      isOut = false;
    };
  }

  /** The same for what is given back by calling `end`. */
  function until(account: Account, end: () => void): () => void {
    const giveBack = take(account);
    return () => {
      giveBack();
      end();
    };
  }

  async function spawn(spec: SpawnSpec, sink: OutputSink): Promise<Child> {
    started += 1;
    sinks.push(new WeakRef(sink));
    const giveBack = take("outputs without an end");
    let hasEnded = false;
    const followed: OutputSink = {
      chunk: (stream, bytes) => {
        if (hasEnded) faults.push(`${spec.sessionId}: ${bytes.length} bytes after the end of its output`);
        sink.chunk(stream, bytes);
      },
      end: () => {
        if (hasEnded) faults.push(`${spec.sessionId}: its output ended twice`);
        hasEnded = true;
        giveBack();
        sink.end();
      },
    };
    try {
      const child = await runtime.spawner.spawn(spec, followed);
      void child.exited.then(take("running children"));
      return { ...child, release: until("children not let go of", () => child.release()) };
    } catch (error) {
      giveBack();
      throw error;
    }
  }

  function countedGuard(guard: OrphanGuard): OrphanGuard {
    const guarded = new Map<string, () => void>();
    return {
      ...guard,
      watch: (pid, sessionId) => {
        guarded.set(sessionId, take("guards"));
        guard.watch(pid, sessionId);
      },
      release: (sessionId) => {
        guarded.get(sessionId)?.();
        guarded.delete(sessionId);
        guard.release(sessionId);
      },
    };
  }

  const { clock, guard } = runtime;
  return {
    runtime: {
      ...runtime,
      spawner: { ...runtime.spawner, spawn },
      clock: {
        ...clock,
        timer: (ms, fire, holding) => {
          const giveBack = take("timers");
          const cancel = clock.timer(ms, () => {
            giveBack();
            fire();
          }, holding);
          return () => {
            giveBack();
            cancel();
          };
        },
      },
      ...(guard !== undefined && { guard: () => countedGuard(guard()) }),
      onShutdown: (end) => until("shutdown hooks", runtime.onShutdown(end)),
    },
    signal: countingSignal(() => take("abort listeners")),
    outstanding: () => Object.fromEntries([...out].filter(([, count]) => count !== 0)),
    faults,
    started: () => started,
    inMemory: () => {
      sinks = sinks.filter((sink) => sink.deref() !== undefined); // those that have gone take no room here either
      return sinks.length;
    },
  };
}

function countingSignal(take: () => () => void): AbortSignal {
  const { signal } = new AbortController();
  const taken = new Map<unknown, () => void>();
  const counted: Partial<AbortSignal> = {
    addEventListener: (_type: string, listener: unknown) => void (taken.has(listener) || taken.set(listener, take())),
    removeEventListener: (_type: string, listener: unknown) => {
      taken.get(listener)?.();
      taken.delete(listener);
    },
  };
  return Object.assign(signal, counted);
}
