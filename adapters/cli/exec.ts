/**
 * `offstage exec`: one command through the tools, as an agent would run it.
 *
 * @module
 */
import type { Buffer } from "node:buffer";
import process from "node:process";
import { parseArgs } from "node:util";
import type { Agent, EndedDetails, ExecParams, OffstageConfig, PollDetails, RunningDetails } from "../../mod.ts";
import { createOffstage } from "../auto.ts";
import { EXIT_CODES_HELP, EXIT_OWN_FAILURE, exitCodeOf } from "./exit_codes.ts";
import { FLEET_HELP, FLEET_OPTIONS, fleetOf } from "./fleet.ts";
import { launcherGone } from "./launcher.ts";
import { showProgress } from "./progress.ts";
import { given, JSON_HELP, print, printJson, say, secondsOf, usage, type Verb } from "./verb.ts";

const HELP = `Examples
  offstage exec 'npm test'                            run it, print its output as it comes, exit with its code
  offstage exec --timeout 60 --pty 'top -b'           in a terminal, for a minute at most
  offstage exec --nats nats://hub --node any 'make'   on a machine of a fleet, the one that has least to do
  offstage exec                                       a short tour of what exec and process do

Options
  --timeout <seconds>   life span; default 1800, 0 is none
  --workdir <folder>    where to run it
  --pty                 run it in a pseudo-terminal
  --host <host>         gateway (this machine, the default) or node
  --node <id>           on that node; any, any:<label> or any:<label>=<value> is the least busy one, with that label;
                        without it the command runs here, --nats or not
${JSON_HELP}: how it ended, with all its output
${FLEET_HELP}
${EXIT_CODES_HELP}`;

const OPTIONS = {
  ...FLEET_OPTIONS,
  timeout: { type: "string" },
  workdir: { type: "string" },
  pty: { type: "boolean" },
  host: { type: "string" },
  node: { type: "string" },
  json: { type: "boolean" },
} as const;

/** Everything a command prints between two polls is shown: more than the tools hold for a model, characters. */
const HELD_CHARS = 50_000_000;

/** As JSON it is told in one piece: as much as makes a string that every runtime can hold, line feeds escaped, characters. */
const HELD_CHARS_JSON = 200_000_000;

/** The verb. */
export const exec: Verb = {
  help: HELP,
  ownWords: (args) => args.slice(0, commandIndex(args)),
  run: async (args) => {
    const start = commandIndex(args);
    const words = args.slice(start);
    const { values } = given(args.slice(0, start), OPTIONS);
    const { json = false, timeout, workdir, pty, node, host = node === undefined ? undefined : "node" } = values;
    if (words.length === 0) return await (await import("./tour.ts")).tour();
    const params: ExecParams = {
      command: words.join(" "),
      ...(timeout !== undefined && { timeout: secondsOf("timeout", timeout) }),
      ...(workdir !== undefined && { workdir }),
      ...(pty !== undefined && { pty }),
      ...(host !== undefined && { host: host as NonNullable<ExecParams["host"]> }), // exec says which there are
      ...(node !== undefined && { node }),
    };
    const fleet = await fleetOf(values);
    if (host === "node" && fleet.nodes === undefined) {
      throw usage("no node is configured: say where the NATS of a fleet is by --nats or OFFSTAGE_NATS_URL");
    }
    return await runCommand(params, json, fleet);
  },
};

/** Where the command begins: at the first word. What looks like an option behind it is the command's. */
function commandIndex(args: readonly string[]): number {
  const { tokens } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: OPTIONS,
    strict: false,
    tokens: true,
  });
  return tokens.find(({ kind }) => kind === "positional")?.index ?? args.length;
}

/**
 * Runs a command, prints its output as it comes and forwards this program's stdin to it.
 *
 * @param json instead of the output prints one object at the end
 * @param config where the nodes are
 * @returns the exit code to end with
 */
export async function runCommand(params: ExecParams, json: boolean, config: OffstageConfig): Promise<number> {
  const held = json ? HELD_CHARS_JSON : HELD_CHARS;
  const exec = { maxOutputChars: held, pendingMaxOutputChars: held, maxResultChars: held };
  const offstage = createOffstage({ tools: { exec }, ...config });
  void launcherGone().then(() => offstage.close());
  try {
    return await run(offstage.agent("cli"), params, json);
  } finally {
    await offstage.close();
  }
}

async function run(agent: Agent, params: ExecParams, json: boolean): Promise<number> {
  const { details, text } = await agent.exec({ ...params, background: true });
  if ("problems" in details) {
    if (json) await printJson(details);
    else say(text);
    return EXIT_OWN_FAILURE;
  }
  for (const warning of json ? [] : details.warnings) say(warning);
  if (details.status !== "running") { // a quick command of a node may have ended before its start is known here
    if (json) await printJson(details);
    else await print(details.output);
    return endCode(details, json);
  }
  const stopForwarding = forwardStdin(agent, details.sessionId);
  const progress = showProgress(details.name);
  try {
    const end = await follow(agent, details.sessionId, async (text) => {
      if (json) return;
      progress.printed(text);
      await print(text);
    });
    progress.stop();
    if (json) await printJson(await wholeOf(agent, details, end));
    return endCode(end, json);
  } finally {
    progress.stop();
    stopForwarding();
  }
}

/** Gives out what a session prints until its end; tells that. */
async function follow(agent: Agent, sessionId: string, give: (text: string) => Promise<void>): Promise<PollDetails> {
  for (;;) {
    const { details, text } = await agent.process({ action: "poll", sessionId, timeout: 30_000 });
    if (!("from" in details)) throw new Error(text);
    await give(details.output);
    if (details.status !== "running") return details;
  }
}

/** All that is known of a command that has ended, in the words of `exec`; its output read once more, as one piece. */
async function wholeOf(agent: Agent, started: RunningDetails, end: PollDetails): Promise<unknown> {
  const { sessionId, startedAt, cwd, host, node, shell, pty, warnings } = started;
  const { status, ok, exitCode, signal, reason, limit, survivors } = end;
  const durationMs = Date.now() - startedAt;
  const { details, text } = await agent.process({ action: "poll", sessionId, since: 0 });
  if (!("from" in details)) throw new Error(text);
  const { output, truncated, dropped } = details;
  return {
    ...{ sessionId, status, ok, exitCode, signal, reason, limit, output, truncated, dropped },
    ...{ durationMs, startedAt, cwd, host, ...(node !== undefined && { node }), shell, pty, survivors, warnings },
  };
}

/** The exit code of a command that has ended; tells, unless JSON does, what it left behind. */
function endCode(end: EndedDetails | PollDetails, json: boolean): number {
  if (!json && end.reason === "timeout") say("timed out");
  for (const { pid, name } of json ? [] : end.survivors) say(`still runs: ${name} ${pid}`);
  return exitCodeOf(end);
}

/** What this program is given on stdin is the command's; a slow command slows the giver down. */
function forwardStdin(agent: Agent, sessionId: string): () => void {
  const { stdin } = process;
  const write = async (bytes: Buffer): Promise<void> => {
    stdin.pause();
    await agent.process({ action: "write", sessionId, base64: bytes.toString("base64") });
    stdin.resume();
  };
  const end = (): void => void agent.process({ action: "write", sessionId, eof: true });
  stdin.on("data", write).on("end", end).on("error", end);
  return () => {
    stdin.off("data", write).off("end", end).off("error", end);
    stdin.pause();
    stdin.unref?.();
  };
}
