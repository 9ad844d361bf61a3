/**
 * Which host a command runs on: a pure decision.
 *
 * @module
 */

import type { ConfiguredHost } from "../config.ts";
import type { Problem } from "../errors.ts";

/** Where a command can run: in the sandbox, on this machine, or on another one. */
export type HostName = "sandbox" | "gateway" | "node";

/** What the decision depends on. */
export interface RouteRequest {
  /** `tools.exec.host`. */
  readonly configured: ConfiguredHost;
  /** The call's `host`. */
  readonly requested?: ConfiguredHost | undefined;
  /** The call's `node`. */
  readonly node?: string | undefined;
  /** Whether the call is to run outside the sandbox. A default of "on" is `true` here only if it is allowed. */
  readonly elevated: boolean;
  /** A sandbox is configured. */
  readonly sandboxAvailable: boolean;
  /** `tools.exec.sandboxRequired`. */
  readonly sandboxRequired: boolean;
  /** Nodes are configured. Which of them there are, and whether one is that of the call, their directory knows. */
  readonly nodesAvailable: boolean;
  /** `elevated.enabled`. */
  readonly elevatedEnabled: boolean;
  /** What `elevated.allowed` says of the caller's scope. */
  readonly elevatedAllowed: boolean;
}

/** The host to run on, with the node as the call names it, or every reason why there is none. */
export type Route =
  | { readonly ok: true; readonly host: "sandbox" | "gateway"; readonly node?: undefined }
  | { readonly ok: true; readonly host: "node"; readonly node: string | undefined }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/**
 * Chooses the host of one command. It never falls back to a host with fewer walls than the one asked for: what cannot be
 * had is refused, and the refusal names the setting that would allow it.
 *
 * @param request the configuration and the call
 */
export function routeHost(request: RouteRequest): Route {
  const target = request.requested ?? request.configured;
  const required = request.sandboxRequired;
  const problems: Problem[] = [];
  addElevatedProblems(problems, request);
  if (required) addRequiredProblems(problems, request);
  else addTargetProblems(problems, request);
  // A required sandbox overrides a configured node; a node asked for has been refused by then.
  addNodeProblems(problems, request, (required ? request.requested : target) === "node");
  if (problems.length > 0) return { ok: false, problems };
  if (required) return { ok: true, host: "sandbox" };
  if (target === "node") return { ok: true, host: "node", node: request.node };
  if (request.elevated || target === "gateway") return { ok: true, host: "gateway" };
  return { ok: true, host: request.sandboxAvailable ? "sandbox" : "gateway" };
}

function addElevatedProblems(problems: Problem[], request: RouteRequest): void {
  if (!request.elevated) return;
  if (!request.elevatedEnabled) {
    problems.push({ key: "elevated", message: "Elevated commands are off: elevated.enabled would have to be true" });
  }
  if (!request.elevatedAllowed) {
    problems.push({
      key: "elevated",
      message: "Elevated commands are not for this scope: elevated.allowed would have to accept it",
    });
  }
}

/** H2, sandbox required. */
function addRequiredProblems(problems: Problem[], { requested, elevated, sandboxAvailable }: RouteRequest): void {
  if (!sandboxAvailable) {
    problems.push({
      key: "host",
      message: "A sandbox is required (tools.exec.sandboxRequired) but none is configured: set sandbox",
    });
  }
  if (requested === "gateway" || requested === "node") {
    problems.push({
      key: "host",
      message:
        `Host ${requested} is refused: every command runs in the sandbox unless tools.exec.sandboxRequired is false`,
    });
  }
  if (elevated) {
    problems.push({
      key: "elevated",
      message: "Elevated is refused: every command runs in the sandbox unless tools.exec.sandboxRequired is false",
    });
  }
}

/** H2, sandbox not required. */
function addTargetProblems(problems: Problem[], { configured, requested, sandboxAvailable }: RouteRequest): void {
  if (requested !== undefined && requested !== configured) {
    if (configured !== "auto") {
      problems.push({
        key: "host",
        message:
          `Host ${requested} is refused: tools.exec.host is ${configured}; leave host out, or set tools.exec.host to ${requested}`,
      });
    } else if (sandboxAvailable && requested !== "sandbox") {
      problems.push({
        key: "host",
        message: `Host ${requested} is refused: a sandbox is configured; tools.exec.host would have to be ${requested}`,
      });
    }
  }
  if ((requested ?? configured) === "sandbox" && !sandboxAvailable) {
    problems.push({
      key: "host",
      message: "Host sandbox is not there: no sandbox is configured; set sandbox, or choose another host",
    });
  }
}

/** H4, but for which node it is. */
function addNodeProblems(problems: Problem[], { node, nodesAvailable }: RouteRequest, onNode: boolean): void {
  if (!onNode) {
    if (node !== undefined) problems.push({ key: "node", message: `Node ${JSON.stringify(node)} needs host: "node"` });
  } else if (!nodesAvailable) {
    problems.push({ key: "node", message: "Host node is not there: no node is configured; set nodes" });
  }
}
