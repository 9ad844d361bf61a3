/**
 * Asking a directory of nodes, which may be slow, broken or gone: nobody waits for it for ever.
 *
 * @module
 */
import { AbortError, messageOf, OffstageError } from "../errors.ts";
import type { Clock } from "../runtime.ts";
import { pause } from "../session/timing.ts";
import { ALL_SCOPES } from "../session/scope.ts";
import { refuseIfAborted } from "./aborted.ts";
import type { ChosenNode, NodeDirectory, NodeInfo } from "./nodes.ts";
import { isSpawner } from "./options.ts";

/** Longest wait for an answer, ms: time to connect anew, and short enough for whoever waits. */
const LONGEST_MS = 10_000;

/**
 * The node that a call means.
 *
 * @throws {OffstageError} what the directory throws; `unreachable` if that is something else, or nothing within 10 s
 * @throws an AbortError when `signal` fires meanwhile
 */
export async function chosenNode(
  directory: NodeDirectory,
  call: { readonly node: string | undefined; readonly scope: string; readonly signal: AbortSignal | undefined },
  clock: Clock,
): Promise<ChosenNode> {
  const choose = async (): Promise<ChosenNode> => {
    const { name, spawner } = await directory.choose(call.node, call.scope);
    // A command that was meant for another machine runs on none rather than on this one
    if (typeof name !== "string" || !isSpawner(spawner)) throw new Error("the directory's answer is none");
    return { name, spawner };
  };
  return await answerOf("Cannot find a node to run on", choose, clock, call.signal);
}

/**
 * The nodes that a scope may use.
 *
 * @throws {OffstageError} `unreachable`, whatever the directory throws, or if there is no answer within 10 s
 */
export async function listedNodes(
  directory: NodeDirectory,
  scope: string | undefined,
  clock: Clock,
): Promise<readonly NodeInfo[]> {
  const purpose = "Cannot list the nodes";
  const list = async (): Promise<readonly NodeInfo[]> => {
    try {
      return await directory.list(scope === ALL_SCOPES ? undefined : scope);
    } catch (error) {
      throw unreachable(purpose, messageOf(error), error);
    }
  };
  return await answerOf(purpose, list, clock);
}

/** Closes a directory. What it does not let go of by itself in time, or at all, ends with the program. */
export async function closeDirectory(directory: NodeDirectory, clock: Clock): Promise<void> {
  const close = async (): Promise<void> => await directory.close();
  await answerOf("", close, clock).catch(() => {});
}

async function answerOf<T>(purpose: string, ask: () => Promise<T>, clock: Clock, signal?: AbortSignal): Promise<T> {
  const over = new AbortController();
  const end = (): void => over.abort();
  signal?.addEventListener("abort", end, { once: true });
  try {
    const answer = await Promise.race([ask().then((value) => ({ value })), pause(clock, LONGEST_MS, over.signal)]);
    if (answer !== undefined) return answer.value;
    refuseIfAborted(signal);
    throw unreachable(purpose, `no answer within ${LONGEST_MS / 1_000} s`);
  } catch (error) {
    if (error instanceof OffstageError || error instanceof AbortError) throw error;
    throw unreachable(purpose, messageOf(error), error);
  } finally {
    signal?.removeEventListener("abort", end);
    end();
  }
}

function unreachable(purpose: string, why: string, cause?: unknown): OffstageError {
  return new OffstageError("unreachable", `${purpose}: ${why}`, { cause });
}
