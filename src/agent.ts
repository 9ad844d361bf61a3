/**
 * The tools of one agent, as code calls them.
 *
 * @module
 */
import type { ExecAnswer, ToolAnswer } from "./exec/answer.ts";
import type { ExecContext, ExecOptions } from "./exec/exec.ts";
import type { ExecParams } from "./exec/schema.ts";
import { type OnUse, onUse } from "./on_use.ts";
import type { FailureDetails, StatusDetails } from "./process/answer.ts";
import type { ProcessOptions } from "./process/dispatch.ts";
import type { KillDetails } from "./process/kill.ts";
import type { ListDetails } from "./process/list.ts";
import type { LogDetails } from "./process/log.ts";
import type { PollDetails } from "./process/poll.ts";
import type { ResizeDetails } from "./process/resize.ts";
import type { ProcessAction, ProcessParams } from "./process/schema.ts";
import type { ScreenDetails } from "./process/screen.ts";
import type { WriteDetails } from "./process/typing.ts";
import type { SessionEnd } from "./session/end_all.ts";
import type { AgentEvents } from "./session/events.ts";
import type { SessionView } from "./session/view.ts";
import { offerOf } from "./tools/exec.ts";
import { makeTools, type Tool, type Toolbox, type ToolsOptions } from "./tools/tools.ts";

/** `exec`, and what sessions take: that is most of this package, and no part of its import. */
export const execTool: OnUse<typeof import("./exec/exec.ts")> = onUse(() => import("./exec/exec.ts"));

/** `process`, which is needed once there is a session. */
export const processTool: OnUse<typeof import("./process/dispatch.ts")> = onUse(() => import("./process/dispatch.ts"));

/** `details` of `process`, by action. */
export interface ProcessDetails {
  /** See {@linkcode ListDetails}. */
  readonly "list": ListDetails;
  /** See {@linkcode PollDetails}. */
  readonly "poll": PollDetails;
  /** See {@linkcode LogDetails}. */
  readonly "log": LogDetails;
  /** See {@linkcode ScreenDetails}. */
  readonly "screen": ScreenDetails;
  /** See {@linkcode WriteDetails}. */
  readonly "write": WriteDetails;
  /** See {@linkcode WriteDetails}. */
  readonly "send-keys": WriteDetails;
  /** See {@linkcode WriteDetails}. */
  readonly "submit": WriteDetails;
  /** See {@linkcode WriteDetails}. */
  readonly "paste": WriteDetails;
  /** See {@linkcode ResizeDetails}. */
  readonly "resize": ResizeDetails;
  /** See {@linkcode KillDetails}. */
  readonly "kill": KillDetails;
  /** See {@linkcode StatusDetails}. */
  readonly "clear": StatusDetails;
  /** See {@linkcode StatusDetails}. */
  readonly "remove": StatusDetails;
}

/** The two tools of one agent. It sees its own sessions and no others. */
export interface Agent {
  /** Its scope. */
  readonly scope: string;
  /**
   * Runs a command. Answers when it has ended, or `running` after `yieldMs`; see {@linkcode ExecParams}.
   *
   * The command's parent is the host itself, so a command that says `kill $PPID` ends the host.
   *
   * @returns the answer, also when the parameters are wrong or nothing could be started (`isError`)
   * @throws an AbortError when `options.signal` fires while the call waits: the command's tree has been ended
   */
  exec(params: ExecParams, options?: ExecOptions): Promise<ExecAnswer>;
  /**
   * Works with the agent's sessions; see {@linkcode ProcessParams}.
   *
   * @returns the answer, also when the parameters are wrong or the session is unknown (`isError`)
   * @throws an AbortError when `options.signal` fires while the call waits: nothing is consumed, nothing is ended
   */
  process<A extends ProcessAction>(
    params: ProcessParams & { readonly action: A },
    options?: ProcessOptions,
  ): Promise<ToolAnswer<ProcessDetails[A] | FailureDetails>>;
  /**
   * The same two as tools of a model, for any framework; `offstage/tools` has them in the shapes of some.
   *
   * What has no effect as it is configured is left out: `process` for an agent without it, `host`, `node` and `elevated`
   * without such hosts, `notifyOn` where neither `onEvent` nor `requestHeartbeat` would tell the agent.
   */
  tools(options?: ToolsOptions): readonly Tool[];
  /**
   * One of its sessions as code shows it live: bytes, terminal, end; see {@linkcode SessionView}.
   *
   * @returns `undefined` for an id that the agent does not know
   */
  session(sessionId: string): SessionView | undefined;
  /** All its sessions, newest start first. Looking at them consumes nothing, and makes no end old news. */
  sessions(): readonly SessionView[];
  /**
   * Calls `listener` after each change of what `sessions()` gives: a session is new there, has ended, or is gone.
   *
   * @param listener must not throw, and does little
   * @returns a function that ends it; safe to call twice
   */
  watchSessions(listener: () => void): () => void;
  /** What happened in the background and was told by no answer; see {@linkcode AgentEvents}. */
  readonly events: AgentEvents;
  /**
   * Ends every session of the agent and forgets it; resolves when each end is confirmed or given up. A call of `exec`
   * that is still being checked or waits for `authorize` has no session: abort it by its signal.
   */
  killAll(): Promise<readonly SessionEnd[]>;
}

/** What an agent needs to know of its instance. */
export interface AgentContext extends ExecContext {
  /** Whether somebody is told of events, so that a model may ask for them. */
  readonly isTold: boolean;
}

/** Makes the tools of one agent. */
export function makeAgent(context: AgentContext): Agent {
  const { scope, registry, events, settings } = context;
  const box: Toolbox = {
    exec: (input, options) => execTool.use(({ exec }) => exec(context, input, options ?? {})),
    process: (input, options, actions) =>
      processTool.use(({ processCall }) => processCall(context, input, options ?? {}, actions)),
  };
  return {
    scope,
    exec: box.exec,
    process: (params, options) => box.process(params, options) as Promise<never>,
    tools: (options) => makeTools(box, offerOf(context, options?.events ?? context.isTold), options),
    session: (sessionId) => {
      const found = registry.find(scope, sessionId);
      return found !== undefined && "session" in found ? execTool.used().viewOf(found.session) : undefined;
    },
    sessions: () => registry.visible(scope).map((session) => execTool.used().viewOf(session)),
    watchSessions: (listener) => registry.watch(scope, listener),
    events: events.of(scope),
    killAll: () => execTool.use(({ endAll }) => endAll(registry, scope, "killed", settings.killGraceMs)),
  };
}
