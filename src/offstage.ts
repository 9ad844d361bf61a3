/**
 * `createOffstage`: puts the rooms together.
 *
 * @module
 */
import { type Agent, execTool, makeAgent, processTool } from "./agent.ts";
import { type ExecConfig, resolveSettings, type Settings } from "./config.ts";
import { OffstageError } from "./errors.ts";
import type { Hosts } from "./exec/prepare.ts";
import { nodeMap } from "./exec/node_map.ts";
import type { NodeDirectory, NodeInfo } from "./exec/nodes.ts";
import { checkedOptions, isDirectory, isSpawner } from "./exec/options.ts";
import type { GuardStatus, Runtime, Spawner, WrappingHost } from "./runtime.ts";
import type { SessionEvent } from "./session/event.ts";
import { createEvents, type EventsOptions } from "./session/events.ts";
import { createLeases } from "./session/leases.ts";
import { createRegistry } from "./session/registry.ts";
import { ALL_SCOPES } from "./session/scope.ts";
import type { Session } from "./session/session.ts";
import type { Stats } from "./session/stats.ts";
import { createSuspension, type Suspension } from "./session/suspension.ts";

/** What {@linkcode createOffstage} takes beside the runtime. */
export interface OffstageConfig {
  /** The configuration file's shape: only `tools.exec` is read, other tools' settings are not ours. */
  readonly tools?: { readonly exec?: ExecConfig; readonly [other: string]: unknown };
  /** Runs commands in a sandbox; with one, commands run there unless the settings say otherwise. */
  readonly sandbox?: Spawner | WrappingHost;
  /**
   * Runs commands on other machines: by name, or found in a directory where they come and go. Of this process's environment
   * they are given nothing. A directory is closed with the instance.
   */
  readonly nodes?: Readonly<Record<string, Spawner | WrappingHost>> | NodeDirectory;
  /** Who may leave the sandbox with `elevated: true`, or without it if that is the `default`. Default: nobody. */
  readonly elevated?: Hosts["elevated"];
  /**
   * Asked before each spawn; what it approves is what runs. What is typed into a session later it does not see: whoever
   * allows a shell allows all that can be written to it. One that throws denies. Default: everything is allowed.
   */
  readonly authorize?: Hosts["authorize"];
  /**
   * Given every event of every scope as it happens: the end of a background session that no answer has told, and lines
   * that match `notifyOn`. What it throws is ignored; then the event waits in `agent.events` as if it had not been given.
   */
  readonly onEvent?: (event: SessionEvent) => void;
  /** Asked after each event to wake the agent of that scope, so that it looks at `agent.events`. */
  readonly requestHeartbeat?: (scope: string) => void;
  /**
   * Whether SIGTERM, SIGINT and SIGHUP end the sessions. `false`: not those that your program listens to itself; it calls
   * `close()` when it sees fit. @default {true}
   */
  readonly endOnSignals?: boolean;
}

/** Options of {@linkcode createOffstage}. */
export interface OffstageOptions extends OffstageConfig {
  /** The machine; the entry points `offstage/node`, `/deno` and `/bun` bring theirs. */
  readonly runtime: Runtime;
}

/** One instance: its own sessions, its own settings. Two instances never see each other. */
export interface Offstage extends AsyncDisposable, Suspension {
  /** The settings in force. */
  readonly settings: Settings;
  /**
   * The tools of one agent.
   *
   * @param scope the agent's name; agents of the same scope share their sessions
   * @param options `processTool: false` if the agent cannot call `process`: then `exec` always waits for the end
   * @throws {OffstageError} `invalid` if the scope is blank, or `*`
   */
  agent(scope: string, options?: { readonly processTool?: boolean }): Agent;
  /**
   * The view of whoever runs the host: its `process`, `session`, `events` and `killAll` reach the sessions of every scope,
   * each with the `scope` it belongs to. What it starts itself belongs to the scope `*`, which no agent has.
   */
  readonly admin: Agent;
  /** Whether the commands are ended even if the host is killed by SIGKILL; see {@linkcode GuardStatus}. */
  guardStatus(): GuardStatus;
  /**
   * The nodes, for people and programs that choose one.
   *
   * @param scope those that this scope may use; default: all
   * @returns none if there are no `nodes`
   * @throws {OffstageError} `unreachable` if they cannot be asked within 10 s
   */
  nodes(scope?: string): Promise<readonly NodeInfo[]>;
  /** What it has done so far, in numbers. Costs next to nothing. */
  stats(): Stats;
  /**
   * Ends every session and refuses new ones; resolves when all ends are confirmed or given up. Idempotent.
   *
   * A running session keeps the host alive, so a program that is done calls this, or says `await using`.
   */
  close(): Promise<void>;
}

/**
 * Makes an instance on any runtime.
 *
 * Processes that a command leaves behind become children of process 1. A host that is process 1 itself, as in a
 * container, does not reap them: run it under an init there (`docker run --init`).
 *
 * @throws {OffstageError} `invalid` if the configuration is wrong, naming every key
 *
 * @example
 * ```ts
 * import { createOffstage } from "offstage";
 * import { nodeRuntime } from "offstage/node";
 *
 * await using offstage = createOffstage({ runtime: nodeRuntime() });
 * const run = await offstage.agent("agent-1").exec({ command: "echo hello" });
 * console.log(run.text); // hello
 * ```
 */
export function createOffstage(given: OffstageOptions): Offstage {
  const options = checkedOptions(given);
  const { runtime } = options;
  const settings = resolveSettings(options.tools?.exec, runtime.environment());
  // Both before they are asked for: a host that runs out of descriptors could not load them then
  execTool.use(() => Promise.resolve(processTool.begin())).catch(() => {});
  const hosts: Hosts = {
    ...(options.sandbox !== undefined && { sandbox: spawnerOf("sandbox", options.sandbox, runtime) }),
    ...nodesOf(options.nodes ?? {}, runtime, (id) => registry.active().filter((session) => runsOn(session, id)).length),
    elevated: options.elevated ?? { enabled: false, allowed: () => false },
    ...(options.authorize !== undefined && { authorize: options.authorize }),
  };
  const waitFor: EventsOptions["waitFor"] = (...wait) => execTool.used().waitFor(...wait);
  const events = createEvents({
    settings,
    waitFor,
    ...(options.onEvent !== undefined && { onEvent: options.onEvent }),
    ...(options.requestHeartbeat !== undefined && { requestHeartbeat: options.requestHeartbeat }),
  });
  const guard = settings.orphanGuard ? runtime.guard?.() : undefined;
  const atEnd = { signals: options.endOnSignals ?? true };
  let stopGuarding: (() => void) | undefined;
  const leases = createLeases(runtime.clock);
  const registry = createRegistry({
    refusal: leases.refusal,
    settings,
    clock: runtime.clock,
    randomBytes: (count) => runtime.randomBytes(count),
    guard,
    keeping: (needs) => execTool.used().createKeeping(needs),
    onEnded: events.ended,
    // The host's end is watched only while there is something to end.
    onOccupied: () => (stopGuarding ??= runtime.onShutdown(close, atEnd)),
    onVacant: () => {
      stopGuarding?.();
      stopGuarding = undefined;
    },
    onShown: processTool.begin,
  });
  const isTold = options.onEvent !== undefined || options.requestHeartbeat !== undefined;
  let closing: Promise<void> | undefined;

  function close(): Promise<void> {
    return (closing ??= shutDown());
  }

  async function shutDown(): Promise<void> {
    registry.seal();
    const all = [...registry.all(), ...registry.underWay()];
    if (all.length > 0) {
      await execTool.use(({ endAll }) => endAll(registry, undefined, "shutdown", settings.killGraceMs));
    }
    registry.close();
    events.close();
    const directory = hosts.nodes;
    if (directory !== undefined) await execTool.use(({ closeDirectory }) => closeDirectory(directory, runtime.clock));
  }

  function agent(scope: string, given: { readonly processTool?: boolean } = {}): Agent {
    if (typeof scope !== "string" || scope.trim() === "") {
      throw new OffstageError("invalid", "Cannot make an agent: its scope is blank. Give it a name");
    }
    if (scope === ALL_SCOPES) {
      throw new OffstageError(
        "invalid",
        'Cannot make an agent of the scope "*": it sees every scope. Use offstage.admin',
      );
    }
    return agentOf(scope, given);
  }

  function agentOf(scope: string, { processTool = true }: { readonly processTool?: boolean }): Agent {
    const instance = guard?.instance;
    return makeAgent({ scope, runtime, settings, registry, events, hosts, instance, processTool, isTold });
  }

  function guardStatus(): GuardStatus {
    if (!settings.orphanGuard) return "off: the setting orphanGuard is false";
    return guard?.status() ?? `off: ${runtime.name} has none here`;
  }

  const suspension = createSuspension({ registry, leases, clock: runtime.clock, waitFor });
  const admin = agentOf(ALL_SCOPES, {});
  return {
    ...suspension,
    settings,
    agent,
    admin,
    guardStatus,
    nodes: async (scope) => {
      const directory = hosts.nodes;
      if (directory === undefined) return [];
      return await execTool.use(({ listedNodes }) => listedNodes(directory, scope, runtime.clock));
    },
    stats: registry.stats,
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** A directory of the nodes, and their names if they are known in advance. */
function nodesOf(
  nodes: NonNullable<OffstageConfig["nodes"]>,
  runtime: Runtime,
  running: (id: string) => number,
): Pick<Hosts, "nodes" | "nodeNames"> {
  if (isDirectory(nodes)) return { nodes };
  const spawners = Object.entries(nodes).map(([name, host]) =>
    [name, spawnerOf(`nodes.${name}`, host, runtime)] as const
  );
  if (spawners.length === 0) return {};
  return { nodes: nodeMap(new Map(spawners), running), nodeNames: spawners.map(([name]) => name) };
}

function runsOn({ facts, state }: Session, node: string): boolean {
  return facts.node === node && state.kind === "running";
}

/** @throws {OffstageError} `invalid` if the host makes none: what was meant for it would run on this machine */
function spawnerOf(key: string, host: Spawner | WrappingHost, { spawner }: Runtime): Spawner {
  const made = typeof host === "function" ? host(spawner) : host;
  if (isSpawner(made)) return made;
  const message = "expected a host that makes a spawner, with the functions spawn and capabilities";
  throw new OffstageError("invalid", `Cannot use these options: ${key}: ${message}`, { problems: [{ key, message }] });
}
