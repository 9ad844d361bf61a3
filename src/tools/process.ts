/**
 * What a model is told of `process`.
 *
 * @module
 */
import type { ProcessAction } from "../process/schema.ts";
import { choice, flag, number, parameters, text, type ToolDefinition, whole, withParameters } from "./definition.ts";

/** The actions that end and change nothing. */
export const LOOKING_ACTIONS: readonly ProcessAction[] = ["list", "poll", "log", "screen"];

/** The definition of `process`. */
export const PROCESS: ToolDefinition = {
  name: "process",
  description: `Works with sessions that exec left running. All but list take a sessionId.
poll: new output since the last poll. Wait with until instead of polling in a loop: \
{"action":"poll","sessionId":"…","until":"exit","timeout":30000}
log: any lines, again. screen: the terminal as a person sees it. write: input, data "yes\\n"; \
in a terminal write, then submit (Enter). send-keys: keys ["C-c"] or ["Up","Enter"]. paste, resize: the terminal. \
kill: ends it and all it started. clear: forgets an ended one. remove: kills and forgets.`,
  parameters: parameters(["action"], {
    action: choice([...LOOKING_ACTIONS, "write", "send-keys", "submit", "paste", "resize", "kill", "clear", "remove"]),
    sessionId: text(),
    timeout: number("poll, screen: longest wait, ms, up to 30000"),
    until: text('poll, screen: "exit", "input", "idle:<ms>", "port:<n>" or a regular expression; screen also "stable"'),
    offset: whole("log: first line, from 0; negative: from the end"),
    limit: whole("log: lines"),
    stream: choice(["stdout", "stderr"], "log"),
    grep: text("log: regular expression"),
    raw: flag("log: with escape codes"),
    bytes: flag("log: bytes in base64 instead of lines"),
    since: whole(
      "poll, log, screen: byte to read from (log: with bytes); screen: only rows changed since that revision",
    ),
    scrollback: whole("screen: so many lines above it too"),
    data: text("write"),
    base64: text("write: bytes"),
    eof: flag("write: then end the input"),
    keys: { type: "array", description: "send-keys: names, characters", items: text() },
    literal: text("send-keys: text before keys"),
    hex: text("send-keys: bytes between literal and keys"),
    delayMs: number("send-keys: pause between keys"),
    text: text("paste"),
    bracketed: flag("paste: mark as a paste"),
    sensitive: flag("write, send-keys, paste: a secret, hide its echo"),
    cols: whole("resize: width"),
    rows: whole("resize: height"),
    signal: text('kill: only send this, e.g. "SIGINT"'),
    wait: number("kill: ms to wait for the end"),
  }),
  seldom: ["raw", "bytes", "since", "scrollback", "base64", "literal", "hex", "delayMs", "bracketed"],
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
};

/** What the actions that only look take. */
const LOOKING_PARAMETERS = new Set([
  "action",
  "sessionId",
  "timeout",
  "until",
  "offset",
  "limit",
  "stream",
  "grep",
  "raw",
  "bytes",
  "since",
  "scrollback",
]);

const looking = withParameters(PROCESS, (name) => LOOKING_PARAMETERS.has(name));

/** The definition of `process_read`: what of `process` may be called without asking anybody. */
export const PROCESS_READ: ToolDefinition = {
  ...looking,
  name: "process_read",
  description: `Looks at the sessions that exec left running, like the process tool, but changes nothing.`,
  parameters: parameters(["action"], { ...looking.parameters.properties, action: choice(LOOKING_ACTIONS) }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: false, openWorldHint: false },
};
