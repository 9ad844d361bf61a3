/**
 * A call of a tool, as the protocol brings it.
 *
 * @module
 */
import type { CallToolResult, ServerContext } from "@modelcontextprotocol/server";
import { AbortError, type Agent, type Tool, type ToolAnswer } from "../../mod.ts";
import { followSession, tellProgress } from "./progress.ts";

/** Calls of one client that may wait at the same time; more are refused, for each may be a process. */
const MOST_CALLS = 64;

/** Counts the calls that wait. */
export interface CallRoom {
  /** How many there are. */
  waiting: number;
}

/**
 * Calls a tool and waits for its answer, or until the client cancels or goes away: then a command goes to the background,
 * and what only waits stops waiting; nothing is ended and nothing lost (spec R13).
 */
export async function callTool(
  agent: Agent,
  tool: Tool,
  input: unknown,
  context: ServerContext,
  room: CallRoom,
): Promise<CallToolResult> {
  if (room.waiting >= MOST_CALLS) {
    return refusal(
      `Nothing was done: ${MOST_CALLS} calls are waiting already. Call again when one of them is answered`,
    );
  }
  room.waiting += 1;
  const stopTelling = tellIfAsked(agent, tool, input, context);
  try {
    return resultOf(await run(tool, input, goneSignal(context), stopTelling.update));
  } catch (error) {
    if (error instanceof AbortError) return refusal("The wait was ended by the caller; nothing else was");
    throw error;
  } finally {
    stopTelling.stop();
    room.waiting -= 1;
  }
}

function run(
  tool: Tool,
  input: unknown,
  gone: AbortSignal,
  update: ((tail: string) => void) | undefined,
): Promise<ToolAnswer<object>> {
  if (!tool.tellsUpdates) return tool.run(input, { signal: gone });
  return tool.run(input, {
    yieldSignal: gone,
    ...(update !== undefined && { onUpdate: ({ tail }) => update(tail) }),
  });
}

/** Fires when the client cancels, or its connection ends: an older one over HTTP may end without a word. */
function goneSignal({ mcpReq, http }: ServerContext): AbortSignal {
  const connection = http?.req?.signal;
  return connection === undefined ? mcpReq.signal : AbortSignal.any([mcpReq.signal, connection]);
}

function tellIfAsked(
  agent: Agent,
  tool: Tool,
  input: unknown,
  { mcpReq }: ServerContext,
): { readonly update?: (tail: string) => void; readonly stop: () => void } {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return { stop: () => {} };
  const teller = tellProgress(({ progress, message }) =>
    mcpReq.notify({ method: "notifications/progress", params: { progressToken, progress, message } })
  );
  const stopFollowing = tool.tellsUpdates ? () => {} : followSession(agent, input, teller);
  return {
    update: teller.update,
    stop: () => {
      stopFollowing();
      teller.stop();
    },
  };
}

function resultOf({ text, details, isError }: ToolAnswer<object>): CallToolResult {
  return { content: [{ type: "text", text }], structuredContent: { ...details }, isError };
}

function refusal(message: string): CallToolResult {
  const details = { status: "failed", reason: "refused", message };
  return { content: [{ type: "text", text: message }], structuredContent: details, isError: true };
}
