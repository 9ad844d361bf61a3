/**
 * The sessions' logs as resources of the protocol.
 *
 * @module
 */
import type { McpServer, ReadResourceResult, Resource } from "@modelcontextprotocol/server";
import type { Agent, SessionView } from "../../mod.ts";
import type { Sdk } from "./sdk.ts";

/** The template of their addresses. */
const TEMPLATE = "offstage://sessions/{id}/log";

const MIME_TYPE = "text/plain";

/** Characters of a log that are read at once: what the tools answer at most, unless they are told otherwise. */
const READ_CHARS = 30_000;

/** Lets clients list and read the logs of an agent's sessions. Reading consumes nothing: it is no poll. */
export function offerLogs(server: McpServer, agent: Agent, sdk: Sdk): void {
  const ids = (): string[] => agent.sessions().map(({ sessionId }) => sessionId);
  const template = new sdk.ResourceTemplate(TEMPLATE, {
    list: () => ({ resources: agent.sessions().map(resourceOf) }),
    complete: { id: (start) => ids().filter((id) => id.startsWith(start)) },
  });
  const config = { title: "Output of a session", description: "Its newest output, as text", mimeType: MIME_TYPE };
  server.registerResource("session log", template, config, ({ href }): ReadResourceResult => {
    const view = sessionAt(agent, href);
    if (view === undefined) throw new sdk.ResourceNotFoundError(href);
    return { contents: [{ uri: href, mimeType: MIME_TYPE, text: logText(view) }] };
  });
}

/** The session whose log has that address. */
export function sessionAt(agent: Agent, uri: string): SessionView | undefined {
  const [, id] = /^offstage:\/\/sessions\/([^/]+)\/log$/.exec(uri) ?? [];
  return id === undefined ? undefined : agent.session(id);
}

function resourceOf(view: SessionView): Resource {
  const { sessionId, name, start, end } = view;
  return {
    uri: TEMPLATE.replace("{id}", sessionId),
    name: sessionId,
    title: name,
    description: stateOf(view),
    mimeType: MIME_TYPE,
    size: end - start,
  };
}

/** The output's end, and what became of the command. */
function logText(view: SessionView): string {
  const text = view.tail(READ_CHARS).trimEnd();
  return [
    ...(view.end > READ_CHARS
      ? [`[the end of ${view.end} bytes; action log of the tool process has earlier lines]`]
      : []),
    text === "" ? "(no output)" : text,
    `[${stateOf(view)}]`,
  ].join("\n");
}

function stateOf({ outcome }: SessionView): string {
  if (outcome === undefined) return "running";
  const { status, exitCode, signal } = outcome;
  const how = signal ?? (exitCode === null ? "exit code unknown" : `exit code ${exitCode}`);
  return `${status}, ${how}`;
}
