/**
 * What all hosts have in common that run commands on another machine by way of a program on this one, such as `ssh`.
 *
 * @module
 */
import { type Child, OffstageError, type OutputSink, type Place, type Spawner, type SpawnSpec } from "../../../mod.ts";
import { remoteChild } from "./child.ts";
import { type Launch, launch, type Outcome } from "./launch.ts";
import { type Client, connect, type Overseer } from "./overseer.ts";
import { quote } from "./quoting.ts";
import { keepSpare, type TakeClient } from "./spare.ts";
import { within } from "./within.ts";
import { launchText } from "./wrapper.ts";

/** What {@linkcode createRemoteSpawner} needs to know. */
export interface RemoteOptions {
  /** Name of the spawner. */
  readonly name: string;
  /** Runs the program here. */
  readonly inner: Spawner;
  /** What to run. */
  readonly client: Client;
  /** Where commands run unless a call says otherwise. Default: where the client puts them. */
  readonly cwd?: string | undefined;
}

/** A connection, and what gives clients of it. */
interface Link {
  readonly overseer: Overseer;
  readonly take: TakeClient;
}

/** Time that a start may take once there is a connection, ms: a shell there has a few small programs to start. */
const START_LIMIT_MS = 60_000;

const TROUBLE: Readonly<Record<string, (spec: SpawnSpec) => string>> = {
  "missing": ({ cwd }) => `Cannot start in "${cwd}": there is no such directory`,
  "not-a-directory": ({ cwd }) => `Cannot start in "${cwd}": it is not a directory`,
  "not-permitted": ({ cwd }) => `Cannot start in "${cwd}": it may not be entered`,
  "no-program": ({ argv: [program] }) => `Cannot start "${program}": there is no such program`,
  "not-executable": ({ argv: [program] }) => `Cannot start "${program}": it may not be executed`,
};

/** Makes the spawner. It connects with the first command, and again when the connection is gone. */
export function createRemoteSpawner({ name, inner, client, cwd }: RemoteOptions): Spawner {
  let connecting: Promise<Link> | undefined;
  let current: Link | undefined;

  async function connected(): Promise<Link> {
    if (current?.overseer.isAlive() === true) return current;
    connecting ??= connect(client).then((overseer) => ({ overseer, take: keepSpare(inner, overseer) }))
      .finally(() => connecting = undefined);
    return current = await connecting;
  }

  const place: Place = {
    cwd: async () => cwd ?? (await connected()).overseer.cwd,
    home: async () => (await connected()).overseer.home,
    directoryStatus: () => "ok",
    hasProgram: async (nameOrPath) =>
      (await (await connected()).overseer.ask(`h ${quote(nameOrPath)}`))?.at(-1) === "y",
  };

  async function spawn(spec: SpawnSpec, sink: OutputSink): Promise<Child> {
    const { overseer, take } = await connected();
    const letGo = overseer.hold();
    try {
      const launched = spec.terminal === undefined ? await take(sink, spec) : await launch(inner, overseer, sink, spec);
      const { client: child, ended } = launched;
      const outcome = await within(startOf(launched, spec, overseer.mark), START_LIMIT_MS);
      if (outcome?.kind === "start") {
        const started = { ...outcome, sessionId: spec.sessionId, ownsGroup: outcome.group === outcome.pid };
        return remoteChild({ client: child, overseer, started, ended, spec, target: client.target });
      }
      if (outcome?.kind !== "over") child.signal("SIGKILL", "group");
      const { code } = await child.exited;
      child.release();
      const words = [overseer.connection.explain?.(code ?? null) ?? "", launched.complaints().trim()];
      throw failure(outcome, spec, words, client.target);
    } finally {
      letGo();
    }
  }

  return {
    name,
    place,
    capabilities: async () => ({ pty: (await inner.capabilities()).pty, signals: true, groups: true }),
    spawn,
  };
}

/** Tells a client's script what to run. */
async function startOf({ client, tag, ready, begun }: Launch, spec: SpawnSpec, mark: string): Promise<Outcome> {
  await ready;
  // If it cannot be written, its end tells why
  void client.write(launchText(spec, tag, { OFFSTAGE_INSTANCE: mark })).catch(() => {});
  return await begun;
}

function failure(
  outcome: Outcome | undefined,
  spec: SpawnSpec,
  words: readonly string[],
  target: string,
): OffstageError {
  const trouble = outcome?.kind === "fail" ? TROUBLE[outcome.why]?.(spec) : undefined;
  const why = outcome === undefined
    ? `nothing was started within ${START_LIMIT_MS / 1_000} s`
    : words.filter((part) => part !== "").join(": ") || "the connection ended";
  return new OffstageError("spawn-failed", `${trouble ?? `Cannot start anything: ${why}`} (on ${target})`);
}
