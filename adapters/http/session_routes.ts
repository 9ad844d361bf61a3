/**
 * The sessions of the caller, each with its actions.
 *
 * @module
 */
import type {
  Agent,
  FailureDetails,
  ListDetails,
  ListEntry,
  ProcessAction,
  ProcessParams,
  ToolAnswer,
} from "../../mod.ts";
import type { App, AppContext } from "./caller.ts";
import { HttpError, invalid, unknownSession } from "./errors.ts";
import { checked, type Given, objectOf, queryOf } from "./input.ts";
import { NOTHING } from "./parameters.ts";

/** Actions that are posted, by the last word of their path. */
const POSTED: Readonly<Record<string, ProcessAction>> = {
  write: "write",
  keys: "send-keys",
  submit: "submit",
  paste: "paste",
  resize: "resize",
  kill: "kill",
  clear: "clear",
};

/** Names of the path, not of parameters. */
const RESERVED = ["action", "sessionId"];

/**
 * Adds the routes of `/v1/sessions`. To look does not count as having been told: what an agent has not learnt yet stays
 * news for it.
 */
export function sessionRoutes(app: App): void {
  app.get("/v1/sessions", async (c) => {
    checked(NOTHING.check, queryOf(c));
    return c.json<ListDetails>({ sessions: await listOf(c.get("caller").agent) });
  });
  app.delete("/v1/sessions", async (c) => {
    checked(NOTHING.check, queryOf(c));
    checked(NOTHING.check, await objectOf(c));
    return c.json({ ended: await c.get("caller").agent.killAll() });
  });
  app.get("/v1/sessions/:id", async (c) => {
    checked(NOTHING.check, queryOf(c));
    const id = c.req.param("id");
    const [entry] = await listOf(c.get("caller").agent, id);
    if (entry === undefined) throw unknownSession(id);
    return c.json<ListEntry>(entry);
  });
  app.get("/v1/sessions/:id/log", async (c) => c.json(await look(c, "log", queryOf(c, ["raw", "bytes"]))));
  app.get("/v1/sessions/:id/screen", async (c) => c.json(await look(c, "screen", queryOf(c))));
  for (const [word, action] of Object.entries(POSTED)) {
    app.post(`/v1/sessions/:id/${word}`, async (c) => {
      checked(NOTHING.check, queryOf(c));
      return c.json(await act(c, action, await objectOf(c)));
    });
  }
  app.delete("/v1/sessions/:id", async (c) => {
    checked(NOTHING.check, queryOf(c));
    return c.json(await act(c, "remove", await objectOf(c)));
  });
}

/** @param only id of the one that is wanted; default: all */
async function listOf(agent: Agent, only?: string): Promise<readonly ListEntry[]> {
  const { details } = await agent.process({ action: "list" }, { onlooker: true, only });
  return "sessions" in details ? details.sessions : [];
}

/** What an action that only looks has seen. */
async function look(c: AppContext, action: ProcessAction, given: Given): Promise<object> {
  return (await act(c, action, given, true)).details;
}

/** Calls an action on the session of the path; what a tool answers with an error is a refusal here. */
async function act(
  c: AppContext,
  action: ProcessAction,
  given: Given,
  onlooker = false,
): Promise<ToolAnswer<object>> {
  const sessionId = c.req.param("id") ?? "";
  const { agent } = c.get("caller");
  if (agent.session(sessionId) === undefined) throw unknownSession(sessionId);
  const misplaced = RESERVED.filter((key) => key in given);
  if (misplaced.length > 0) throw invalid(misplaced.map((key) => ({ key, message: "is said by the path" })));
  const params = { ...given, action, sessionId } as ProcessParams;
  const answer = await agent.process(params, { signal: c.req.raw.signal, onlooker });
  const { reason, problems } = answer.details as Partial<FailureDetails>;
  if (!answer.isError) return answer;
  if (reason === "invalid") throw invalid(problems ?? []);
  if (reason === "unknown-session" || reason === "gone") throw unknownSession(sessionId);
  throw new HttpError(409, "not-possible", answer.text, "POST /v1/process answers the same as a tool does");
}
