/**
 * From a call's parameters to a spawn that may happen: every check before anything starts.
 *
 * @module
 */
import type { Settings } from "../config.ts";
import { messageOf, OffstageError, type Problem } from "../errors.ts";
import { type Limits, limitsInForce } from "../limits.ts";
import type { Runtime, Spawner, TerminalSize } from "../runtime.ts";
import { limitWarnings } from "../session/wording.ts";
import { chosenNode } from "./ask_directory.ts";
import { environmentProblems } from "./environment.ts";
import { foundFor, isElevated, routeFor } from "./found.ts";
import { kernelLimits } from "./limit_script.ts";
import type { NodeDirectory } from "./nodes.ts";
import type { ExecParams } from "./schema.ts";
import { commandProblem, setsLimits, type Shell, shellCommand } from "./shell.ts";
import { checkWorkdir, findWorkdir } from "./workdir.ts";

/** The hosts and policies the user configured. */
export interface Hosts {
  /** Runs commands in a sandbox. */
  readonly sandbox?: Spawner;
  /** Finds who runs commands on other machines; absent if there are none. */
  readonly nodes?: NodeDirectory;
  /** The names of these machines, where they are known in advance. */
  readonly nodeNames?: readonly string[];
  /** Who may leave the sandbox. */
  readonly elevated: Elevation;
  /** Asked before each spawn. */
  readonly authorize?: (request: ExecRequest) => Promise<Verdict> | Verdict;
}

/** Whether `elevated: true` is there at all, and for whom. */
export interface Elevation {
  /** Whether anybody may. */
  readonly enabled: boolean;
  /** Whether this scope may. One that throws has not allowed it. */
  readonly allowed: (scope: string) => boolean;
  /**
   * Whether calls that do not say so, and do not ask for the sandbox, are elevated where that is allowed; where it is not
   * they run as ever. @default {false}
   */
  readonly default?: boolean;
}

/** What `authorize` answers. */
export type Verdict = { readonly allow: true } | { readonly allow: false; readonly reason: string };

/** What is about to run. Frozen: what was approved is what runs. */
export interface ExecRequest {
  /** The agent that asks. */
  readonly scope: string;
  /** The command's text. */
  readonly command: string;
  /** Where it will run, absolute. */
  readonly cwd: string;
  /** The variables the caller set. */
  readonly env: Readonly<Record<string, string>>;
  /** Where it will run. */
  readonly host: "sandbox" | "gateway" | "node";
  /** Which node: its name, whatever the call has said. */
  readonly node?: string;
  /** Whether it runs outside the sandbox by `elevated`. */
  readonly elevated: boolean;
  /** Whether it gets a terminal. */
  readonly pty: boolean;
  /** What it will be held to; absent if nothing. */
  readonly limits?: Limits;
}

/** A spawn that passed every check; only the session's id is missing. */
export interface Plan {
  /** What was approved. */
  readonly request: ExecRequest;
  /** Who runs it. */
  readonly spawner: Spawner;
  /** Name of the host for people: `gateway`, `sandbox` or the node's name. */
  readonly hostName: string;
  /** The shell. */
  readonly shell: Shell;
  /** Program and arguments. */
  readonly argv: readonly [string, ...string[]];
  /** The terminal, if it gets one. */
  readonly terminal: TerminalSize | undefined;
  /** Whether its stdin can be written to. */
  readonly stdin: "open" | "closed";
  /** Life span, ms. */
  readonly timeoutMs: number;
  /** Whether its shell will report on the limits it was to set. */
  readonly reportsLimits: boolean;
  /** What the caller ought to know. */
  readonly warnings: readonly string[];
  /** The whole environment, for a session's id. */
  environment(sessionId: string): Readonly<Record<string, string>>;
  /** @throws {OffstageError} `spawn-failed` if it could not be started because of its directory; names it (spec E2) */
  checkWorkdir(): Promise<void>;
  /** The same on pipes, for when its terminal cannot be opened; the reason becomes a warning. */
  onPipes(reason: string): Plan;
}

/** What preparing needs to know of the instance. */
export interface PrepareContext {
  /** The agent that asks. */
  readonly scope: string;
  /** The machine. */
  readonly runtime: Runtime;
  /** The settings in force. */
  readonly settings: Settings;
  /** Hosts and policies. */
  readonly hosts: Hosts;
  /** The instance's mark in the environment of its commands, if it has an orphan guard. */
  readonly instance: string | undefined;
  /** Whether the agent can follow a session up. */
  readonly processTool: boolean;
}

/** Terminal size unless the call says otherwise (spec E6). */
const DEFAULT_SIZE: TerminalSize = { cols: 120, rows: 30 };

/**
 * Checks a call against machine and policies.
 *
 * @throws {OffstageError} `invalid`, `refused`, `unreachable` or `spawn-failed`, before anything has started
 * @throws an AbortError when `signal` fires while a node is looked for
 */
export async function prepare(
  context: PrepareContext,
  params: ExecParams,
  signal?: AbortSignal | undefined,
): Promise<Plan> {
  const { runtime, settings, scope, hosts } = context;
  const { shellFor, buildEnvironment, usualRoute } = foundFor(context);
  const { host, node } = params;
  const elevated = isElevated(context, params);
  const isUsual = host === undefined && node === undefined && !elevated;
  const route = isUsual ? usualRoute : routeFor(context, { ...params, elevated });
  const { env = {} } = params;
  const command = commandProblem(params.command);
  const problems: readonly Problem[] = [
    ...(command === undefined ? [] : [command]),
    ...(route.ok ? [] : route.problems),
    ...(params.env === undefined ? [] : environmentProblems(env, { realHost: route.ok && route.host !== "sandbox" })),
  ];
  if (!route.ok || problems.length > 0) throw invalid(problems);

  const chosen = route.host === "node"
    ? await chosenNode(hosts.nodes as NodeDirectory, { node: route.node, scope, signal }, runtime.clock)
    : undefined;
  const spawner = chosen?.spawner ?? (route.host === "sandbox" ? hosts.sandbox as Spawner : runtime.spawner);
  const { workdir = "" } = params;
  const place = spawner.place ?? runtime;
  // This process is in its own directory already; should it have gone meanwhile, the start will fail
  const cwd = workdir === "" && place === runtime ? runtime.cwd() : await findWorkdir(workdir, place);
  const environment = runtime.environment();
  const shell = await shellFor(spawner, environment);
  const { terminal, warnings } = params.pty === true ? await chooseTerminal(params, spawner) : NO_TERMINAL;
  const { limits, warnings: lowered } = limitsInForce(settings.limits, params.limits);
  const request: ExecRequest = {
    scope,
    command: params.command,
    cwd,
    env,
    host: route.host,
    ...(chosen !== undefined && { node: chosen.name }),
    elevated,
    pty: terminal !== undefined,
    ...(limits !== undefined && { limits }),
  };
  if (hosts.authorize !== undefined) await authorize(hosts.authorize, request);

  const wrapped = shellCommand(shell, params.command, {
    mergeStreams: params.mergeStreams ?? false,
    close: spawner.inherited?.() ?? [],
    limits,
  });
  const ofKernel = limits === undefined ? [] : kernelLimits(limits);
  const unset = setsLimits(shell) ? [] : ofKernel;
  const atStart = [
    ...ignoredYield(params, context.processTool),
    ...lowered,
    ...(unset.length === 0 ? [] : limitWarnings(unset, shell.kind)),
  ];
  const planFor = (size: TerminalSize | undefined, warned: readonly string[]): Plan => ({
    request,
    spawner,
    hostName: chosen?.name ?? route.host,
    shell,
    argv: wrapped.argv,
    terminal: size,
    stdin: size !== undefined || opensStdin(params, context.processTool) ? "open" : "closed",
    timeoutMs: lifeSpanMs(params.timeout ?? params.timeoutSeconds ?? settings.timeoutSeconds),
    reportsLimits: ofKernel.length > unset.length,
    warnings: [...warned, ...atStart],
    environment: (sessionId) =>
      buildEnvironment({
        host: environment,
        policy: settings.inheritEnv,
        env,
        terminal: size !== undefined,
        plainTerminal: settings.plainTerminal,
        sessionId,
        instance: context.instance,
        where: route.host,
        command: wrapped.env,
      }),
    checkWorkdir: () => checkWorkdir(cwd, place),
    onPipes: (reason) => planFor(undefined, [...warned, noTerminal(reason)]),
  });
  return planFor(terminal, warnings);
}

/**
 * Asks the policy, which cannot change what it is asked about.
 *
 * @throws {OffstageError} `refused`
 */
async function authorize(policy: NonNullable<Hosts["authorize"]>, request: ExecRequest): Promise<void> {
  const env = Object.freeze({ ...request.env });
  const denial = await denialOf(policy, Object.freeze({ ...request, env }));
  if (denial !== undefined) throw new OffstageError("refused", `Not allowed to run this command: ${denial}`);
}

/** Why a request is denied; `undefined` if it is allowed, which only a clear answer of the policy means. */
async function denialOf(policy: NonNullable<Hosts["authorize"]>, request: ExecRequest): Promise<string | undefined> {
  try {
    const verdict = await policy(request);
    if (verdict?.allow === true) return undefined;
    return messageOf(
      verdict?.reason ??
        (verdict?.allow === false
          ? "authorize gave no reason"
          : "authorize answered neither { allow: true } nor { allow: false, reason }"),
    );
  } catch (error) {
    return `authorize failed (${messageOf(error)})`;
  }
}

function invalid(problems: readonly Problem[]): OffstageError {
  return new OffstageError("invalid", "The command was not run", { problems });
}

/** The terminal of a command, and what the caller ought to know about it. */
interface TerminalChoice {
  readonly terminal: TerminalSize | undefined;
  readonly warnings: readonly string[];
}

const NO_TERMINAL: TerminalChoice = { terminal: undefined, warnings: [] };

async function chooseTerminal(params: ExecParams, spawner: Spawner): Promise<TerminalChoice> {
  const { pty } = await spawner.capabilities();
  if (pty === true) {
    const { cols = DEFAULT_SIZE.cols, rows = DEFAULT_SIZE.rows } = params;
    return { terminal: { cols, rows }, warnings: [] };
  }
  return { terminal: undefined, warnings: [noTerminal(pty)] };
}

function noTerminal(reason: string): string {
  return `no terminal (${reason}): the command ran on pipes`;
}

/** Open when the caller means to talk to the session (spec E7). */
function opensStdin(params: ExecParams, processTool: boolean): boolean {
  if (params.stdin !== undefined) return params.stdin === "open";
  return params.pty === true || (processTool && (params.background === true || params.yieldMs !== undefined));
}

function lifeSpanMs(seconds: number): number {
  return seconds > 0 ? seconds * 1_000 : Infinity;
}

function ignoredYield(params: ExecParams, processTool: boolean): readonly string[] {
  if (processTool || (params.background !== true && params.yieldMs === undefined)) return [];
  return ["yieldMs and background were ignored: without the process tool a command runs to its end"];
}
