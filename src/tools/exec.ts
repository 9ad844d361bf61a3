/**
 * What a model is told of `exec`.
 *
 * @module
 */
import type { Settings } from "../config.ts";
import type { Hosts } from "../exec/prepare.ts";
import { choice, flag, number, parameters, text, type ToolDefinition, whole, withParameters } from "./definition.ts";

/** What the configuration says about a model's `exec`. */
export interface ExecOffer {
  /** Whether the agent can call `process`: without it a command is waited for. */
  readonly processTool: boolean;
  /** Setting `backgroundMs`, ms. */
  readonly backgroundMs: number;
  /** Setting `timeoutSeconds`; 0 is none. */
  readonly timeoutSeconds: number;
  /** Names of the nodes, where they are known in advance. */
  readonly nodeNames?: readonly string[] | undefined;
  /** Parameters that have no effect as it is configured, such as `node` without nodes. */
  readonly idle: readonly string[];
}

/** What of the instance decides about an offer. */
export interface OfferContext {
  /** The settings in force. */
  readonly settings: Settings;
  /** The hosts that are configured. */
  readonly hosts: Hosts;
  /** Whether the agent can call `process`. */
  readonly processTool: boolean;
}

/**
 * What an instance offers.
 *
 * @param isTold whether events reach the agent
 */
export function offerOf({ settings, hosts, processTool }: OfferContext, isTold: boolean): ExecOffer {
  const { backgroundMs, timeoutSeconds } = settings;
  const hasNodes = hosts.nodes !== undefined;
  const idle = [
    ...(hasNodes || hosts.sandbox !== undefined ? [] : ["host"]),
    ...(hasNodes ? [] : ["node"]),
    ...(hosts.elevated.enabled ? [] : ["elevated"]),
    ...(isTold ? [] : ["notifyOnExit", "notifyOn"]),
  ];
  return { processTool, backgroundMs, timeoutSeconds, nodeNames: hosts.nodeNames, idle };
}

/** Most characters of names that a model is told in each request; a refusal tells them too. */
const MOST_NAMES = 100;

/** What `node` can be, given the names where they are known in advance: only nodes that come and go have labels. */
function nodesText(names: readonly string[] | undefined): string {
  if (names === undefined) return "id, any or any:<label>[=<value>]";
  const all = [...names, "any"].join(", ");
  return all.length > MOST_NAMES ? "name, or any" : all;
}

/** What needs `process` afterwards. */
const FOLLOWED_UP = new Set(["yieldMs", "background", "stdin", "notifyOnExit", "notifyOn"]);

/** The definition of `exec`, of what the configuration offers. */
export function execDefinition(offer: ExecOffer): ToolDefinition {
  const { processTool, idle } = offer;
  const isOffered = (name: string): boolean => !idle.includes(name) && (processTool || !FOLLOWED_UP.has(name));
  const definition = withParameters(allOfExec(offer), isOffered);
  return processTool ? definition : { ...definition, description: ALONE };
}

const SHELL = "Every call is a new shell: cd and variables do not last, use workdir and env.";

const EXAMPLE = `Example: {"command":"npm test","workdir":"~/app","timeout":600}`;

const ALONE = `Runs a shell command to its end and answers with its output. \
A non-zero exit code is stated at the end.
Nothing can be typed into it. ${SHELL}
${EXAMPLE}`;

const WITH_PROCESS = `Runs a shell command and answers with its output. \
A non-zero exit code is stated at the end.
What outlives yieldMs, or asks for input with yieldMs set, runs on as a session: the answer has its sessionId, go on \
with the process tool. Servers: background. Programs that need a terminal (REPLs, vim, ssh): pty.
${SHELL}
${EXAMPLE}`;

function allOfExec({ backgroundMs, timeoutSeconds, nodeNames }: ExecOffer): ToolDefinition {
  return {
    name: "exec",
    description: WITH_PROCESS,
    parameters: parameters(["command"], {
      command: text(),
      workdir: text("directory to run in"),
      env: { type: "object", additionalProperties: text() },
      yieldMs: number(`longest wait, 10–120000 ms, default ${backgroundMs}`),
      background: flag("do not wait at all"),
      timeout: number(`seconds until it is killed, in background too; 0: never; default ${timeoutSeconds}`),
      pty: flag("run in a terminal"),
      cols: whole("terminal width, default 120"),
      rows: whole("terminal height, default 30"),
      stdin: choice(["open", "closed"], "default closed, open with pty, background or yieldMs"),
      mergeStreams: flag("stderr into stdout, in true order"),
      limits: parameters([], {
        memoryBytes: whole(),
        cpuSeconds: whole(),
        processes: whole(),
        openFiles: whole(),
        outputBytes: whole("it is killed past that"),
      }, "resource limits"),
      notifyOnExit: flag("tell when it ends in background"),
      notifyOn: parameters(["pattern"], {
        pattern: text("regex"),
        once: flag(),
        cooldownMs: number(),
        max: whole(),
      }, "tell of matching lines of background output"),
      elevated: flag("run outside the sandbox"),
      host: choice(["auto", "sandbox", "gateway", "node"], "gateway: this machine"),
      node: text(`host node: ${nodesText(nodeNames)}`),
    }),
    seldom: ["cols", "rows", "stdin", "mergeStreams", "limits", "notifyOnExit"],
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
  };
}
