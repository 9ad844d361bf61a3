/**
 * `process`: finds the session and hands the call to its action.
 *
 * @module
 */
import type { Settings } from "../config.ts";
import { OffstageError } from "../errors.ts";
import type { Runtime } from "../runtime.ts";
import type { Registry } from "../session/registry.ts";
import { tellEnd } from "../session/news.ts";
import type { Session } from "../session/session.ts";
import { use } from "../session/usage.ts";
import { signalProblems } from "../validate.ts";
import {
  goneSession,
  invalidCall,
  notPossible,
  type ProcessAnswer,
  type StatusDetails,
  unknownSession,
} from "./answer.ts";
import { clear } from "./clear.ts";
import { kill } from "./kill.ts";
import { list } from "./list.ts";
import { log } from "./log.ts";
import { paste } from "./paste.ts";
import { poll } from "./poll.ts";
import { remove } from "./remove.ts";
import { resize } from "./resize.ts";
import { screen } from "./screen.ts";
import { checkProcess, type ProcessAction, type SessionParams } from "./schema.ts";
import { sendKeys } from "./send_keys.ts";
import { submit } from "./submit.ts";
import { write } from "./write.ts";

/** What `process` needs to know of the instance. */
export interface ProcessContext {
  /** The agent that asks. */
  readonly scope: string;
  /** The machine. */
  readonly runtime: Runtime;
  /** The settings in force. */
  readonly settings: Settings;
  /** All sessions. */
  readonly registry: Registry;
}

/** What a call of `process` may bring beside its parameters. */
export interface ProcessOptions {
  /** Ends a wait with a rejection; nothing is consumed and the session is not touched. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Somebody looks who is not the agent, such as a person at a page: that an end is told to him leaves it news for the
   * agent. @default {false}
   */
  readonly onlooker?: boolean | undefined;
  /** Of `list`: only the session of that id, so that the others need not be looked at. Default: all. */
  readonly only?: string | undefined;
}

/** One action on one session. */
export type Action = (
  context: ProcessContext,
  session: Session,
  params: SessionParams,
  options: ProcessOptions,
) => Promise<ProcessAnswer> | ProcessAnswer;

const ACTIONS: Readonly<Record<Exclude<ProcessAction, "list">, Action>> = {
  "poll": poll,
  "log": log,
  "screen": screen,
  "write": write,
  "send-keys": sendKeys,
  "submit": submit,
  "paste": paste,
  "resize": resize,
  "kill": kill,
  "clear": clear,
  "remove": remove,
};

/** Actions whose answers tell the end, and that are soon over once it has come. */
const TELLING: ReadonlySet<ProcessAction> = new Set(["poll", "log", "screen", "kill", "clear", "remove"]);

/**
 * Does one thing with a session, or lists them.
 *
 * @param input the parameters, unchecked
 * @param actions those that the caller may use; default all
 * @returns the answer, also for bad input and unknown sessions
 * @throws an AbortError when `options.signal` fires while it waits
 */
export async function processCall(
  context: ProcessContext,
  input: unknown,
  options: ProcessOptions,
  actions?: readonly ProcessAction[],
): Promise<ProcessAnswer> {
  const checked = checkProcess(input, actions);
  const problems = [...(checked.ok ? [] : checked.problems), ...signalProblems(options.signal)];
  if (!checked.ok || problems.length > 0) return invalidCall(problems);
  const params = checked.value;
  if (params.action === "list") return await list(context, options);
  const { scope, registry } = context;
  const id = params.sessionId ?? "";
  const found = registry.find(scope, id);
  if (found !== undefined && "session" in found) {
    return await act(context, found.session, { ...params, sessionId: id }, options);
  }
  const known = registry.visible(scope).map((session) => session.id);
  return found === undefined
    ? unknownSession(id, known)
    : goneSession(found.tombstone, known, context.runtime.clock.now());
}

/** What the machine refuses is an answer like any other failure (spec R1). */
async function act(
  context: ProcessContext,
  session: Session,
  params: SessionParams,
  options: ProcessOptions,
): Promise<ProcessAnswer> {
  const action = params.action as keyof typeof ACTIONS;
  const call = (): Promise<ProcessAnswer> | ProcessAnswer => ACTIONS[action](context, session, params, options);
  const done = use(session);
  try {
    return await (TELLING.has(action) && options.onlooker !== true ? tellingEnd(session, call) : call());
  } catch (error) {
    if (error instanceof OffstageError) return notPossible(error.message);
    throw error;
  } finally {
    done();
  }
}

/** While it is asked, a session makes no event of its end; afterwards only if the answer has not told it (spec R9). */
async function tellingEnd(
  session: Session,
  call: () => Promise<ProcessAnswer> | ProcessAnswer,
): Promise<ProcessAnswer> {
  session.asking += 1;
  try {
    const answer = await call();
    const { sessionId, status } = answer.details as Partial<StatusDetails>; // a failure has no session
    if (sessionId !== undefined && status !== "running") tellEnd(session);
    return answer;
  } finally {
    session.asking -= 1;
    if (session.state.kind === "ended") session.touch();
  }
}
