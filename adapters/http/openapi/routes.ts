/**
 * Every route, as `/openapi.json` tells of it. A test finds this table and the app's routes the same.
 *
 * @module
 */
import { ACK_BODY, ATTACH_QUERY, EXEC_QUERY, type Input, OUTPUT_QUERY, SUSPEND_BODY } from "../parameters.ts";

/** Parameters that are those of a tool, or some of them. */
export interface ToolPart {
  /** Whose they are. */
  readonly tool: "exec" | "process";
  /** Which of them; default: all. */
  readonly keys?: readonly string[];
}

/** One method of one route. */
export interface Route {
  /** The method. */
  readonly method: "get" | "post" | "delete";
  /** Its path; `{id}` is a parameter. */
  readonly path: string;
  /** A name for the function that generated clients have for it. */
  readonly id: string;
  /** What it does. */
  readonly summary: string;
  /** What else there is to know. */
  readonly description?: string;
  /** Its query. */
  readonly query?: Input<unknown> | ToolPart;
  /** Its body. */
  readonly body?: Input<unknown> | ToolPart;
  /** The schema of what it answers; a list of them is a stream of events; a media type is a file. */
  readonly answer: string | readonly string[] | { readonly media: string };
  /** Who may call it: anybody, whoever has a token, the admin. Default: whoever has a token. */
  readonly who?: "anybody" | "admin";
  /** Refusals beside the usual ones. */
  readonly refusals?: readonly number[];
  /** It becomes a WebSocket, whose token may come later. */
  readonly socket?: true;
}

const SESSION = "/v1/sessions/{id}";

/** An action of `process` on the session of the path. */
function action(word: string, id: string, summary: string, keys: readonly string[] = []): Route {
  return {
    method: "post",
    path: `${SESSION}/${word}`,
    id,
    summary,
    ...(keys.length > 0 && { body: { tool: "process", keys } as const }),
    answer: "ProcessAnswer",
    refusals: [409],
  };
}

/** All routes. */
export const ROUTES: readonly Route[] = [
  {
    method: "post",
    path: "/v1/exec",
    id: "exec",
    summary: "Run a command",
    description:
      "Answers when it has ended, or that it runs after yieldMs. What the tool refuses is its answer, with " +
      "isError. A command whose client goes away meanwhile goes on in the background, unless abortOnDisconnect is true.",
    query: EXEC_QUERY,
    body: { tool: "exec" },
    answer: "ExecAnswer",
  },
  {
    method: "post",
    path: "/v1/process",
    id: "process",
    summary: "Work with the scope's sessions",
    description: "A wait ends when its client goes away; nothing is consumed then.",
    body: { tool: "process" },
    answer: "ProcessAnswer",
  },
  { method: "get", path: "/v1/sessions", id: "listSessions", summary: "The sessions", answer: "SessionList" },
  {
    method: "delete",
    path: "/v1/sessions",
    id: "killAll",
    summary: "End every session of the scope and forget it",
    answer: "SessionEnds",
  },
  { method: "get", path: SESSION, id: "getSession", summary: "One session", answer: "Session" },
  {
    method: "delete",
    path: SESSION,
    id: "removeSession",
    summary: "End a session if it runs, and forget it",
    answer: "ProcessAnswer",
  },
  {
    method: "get",
    path: `${SESSION}/log`,
    id: "getLog",
    summary: "Lines of a session's output, by their numbers",
    query: { tool: "process", keys: ["offset", "limit", "stream", "grep", "raw", "bytes", "since"] },
    answer: "LogPage",
  },
  {
    method: "get",
    path: `${SESSION}/screen`,
    id: "getScreen",
    summary: "A session's terminal as a person sees it",
    query: { tool: "process", keys: ["since", "scrollback", "until", "timeout"] },
    answer: "Screen",
    refusals: [409],
  },
  action("write", "write", "Type text or bytes", ["data", "base64", "eof", "sensitive"]),
  action("keys", "sendKeys", "Press keys by name", ["keys", "literal", "hex", "delayMs", "sensitive"]),
  action("submit", "submit", "Press Enter"),
  action("paste", "paste", "Paste text as a person does", ["text", "bracketed", "sensitive"]),
  action("resize", "resize", "Give the terminal another size", ["cols", "rows"]),
  action("kill", "kill", "End a session's tree, or send it one signal", ["signal", "wait"]),
  action("clear", "clear", "Forget an ended session"),
  {
    method: "get",
    path: `${SESSION}/output`,
    id: "streamOutput",
    summary: "A session's output as it comes",
    description: "Server-sent events: output, gap (bytes you did not get), end (the last one). The id of each is the " +
      "offset after it: a client that comes back with Last-Event-ID goes on there. Comments keep the stream alive.",
    query: OUTPUT_QUERY,
    answer: ["OutputEvent", "GapEvent", "EndEvent"],
  },
  {
    method: "get",
    path: `${SESSION}/attach`,
    id: "attach",
    summary: "A session in both directions",
    description:
      'A WebSocket of the subprotocol offstage.v1. The first frame is text, {"type":"auth","token":"…"} with ' +
      "since, cols, rows and readonly if wanted; then binary frames are bytes, both ways. Text frames of the server: " +
      "hello, gap, resize, exit, error, ping; of the client: resize. Closed with 4401 for a wrong token and 4404 for an " +
      "unknown session.",
    query: ATTACH_QUERY,
    answer: { media: "application/octet-stream" },
    refusals: [400],
    socket: true,
  },
  {
    method: "get",
    path: "/v1/events",
    id: "streamEvents",
    summary: "What happens in the background and no answer has told",
    description:
      "Server-sent events: exit, match, gap (how many were left out); first those not acknowledged yet. The " +
      "id of each is the event's: a client that comes back with Last-Event-ID goes on there.",
    answer: ["ExitEvent", "MatchEvent", "GapEvent"],
  },
  {
    method: "post",
    path: "/v1/events/ack",
    id: "ackEvents",
    summary: "Take events out of the list of those still to be told",
    body: ACK_BODY,
    answer: "Acked",
  },
  {
    method: "get",
    path: "/v1/nodes",
    id: "listNodes",
    summary: "The nodes that the scope's commands can run on; lost ones are told for a while",
    answer: "NodeList",
  },
  {
    method: "get",
    path: "/v1/activity",
    id: "getActivity",
    summary: "What keeps the host from being suspended",
    answer: "Activity",
  },
  {
    method: "post",
    path: "/v1/suspend",
    id: "prepareSuspend",
    summary: "Ask whether the host may be suspended; if so, exec is refused for two minutes",
    body: SUSPEND_BODY,
    answer: "SuspendAnswer",
    who: "admin",
  },
  {
    method: "delete",
    path: "/v1/suspend/{id}",
    id: "resume",
    summary: "Give a lease of prepareSuspend back",
    answer: "Resumed",
    who: "admin",
  },
  {
    method: "get",
    path: "/healthz",
    id: "getHealth",
    summary: "Whether the server is well; 503 if it is about to end",
    answer: "Health",
    who: "anybody",
    refusals: [503],
  },
  {
    method: "get",
    path: "/metrics",
    id: "getMetrics",
    summary: "Numbers for Prometheus",
    answer: { media: "text/plain" },
    who: "admin",
  },
  {
    method: "get",
    path: "/openapi.json",
    id: "getDocument",
    summary: "This document",
    answer: { media: "application/json" },
    who: "anybody",
  },
];
