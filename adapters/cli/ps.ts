/**
 * `offstage ps`: the sessions of a server.
 *
 * @module
 */
import process from "node:process";
import type { ListEntry } from "../../mod.ts";
import { endWords } from "./exit_codes.ts";
import { clientOf, SERVER_HELP, SERVER_OPTIONS } from "./server.ts";
import { tableOf } from "./table.ts";
import { given, JSON_HELP, print, printJson, usage, type Verb } from "./verb.ts";

const HELP = `Examples
  offstage ps                     the sessions, newest first
  offstage ps --json | jq -r '.[] | select(.status == "running").sessionId'

Options
${JSON_HELP}
  -q, --quiet           only ids
${SERVER_HELP}`;

const OPTIONS = {
  ...SERVER_OPTIONS,
  json: { type: "boolean" },
  quiet: { type: "boolean", short: "q" },
} as const;

const HEAD = ["ID", "NAME", "STATUS", "TIME", "PID", "HOST", "LAST LINE"] as const;

/** The verb. */
export const ps: Verb = {
  help: HELP,
  run: async (args) => {
    const { values, positionals } = given(args, OPTIONS);
    if (positionals.length > 0) throw usage(`ps takes no words, but there is "${positionals[0]}"`);
    const sessions = await clientOf(values).sessions();
    if (values.json) await printJson(sessions);
    else if (values.quiet) await print(sessions.map(({ sessionId }) => `${sessionId}\n`).join(""));
    else await print(tableOf([HEAD, ...sessions.map(rowOf)], process.stdout.columns));
    return 0;
  },
};

function rowOf(session: ListEntry): readonly string[] {
  const { sessionId, name, runtimeMs, pid, host, tail } = session;
  return [sessionId, name, statusOf(session), timeOf(runtimeMs), pid === null ? "-" : String(pid), host, tail];
}

function statusOf(session: ListEntry): string {
  if (session.status === "running") return session.waitingForInput ? "asks for input" : "running";
  return session.status === "killed" ? `killed, ${endWords(session)}` : endWords(session);
}

/** A time in its two largest units. */
function timeOf(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)}m${seconds % 60}s`;
  const minutes = Math.floor(seconds / 60);
  return `${Math.floor(minutes / 60)}h${minutes % 60}m`;
}
