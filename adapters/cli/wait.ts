/**
 * `offstage wait`: until a session ends, with its exit code.
 *
 * @module
 */
import { type Client, ClientError } from "../client.ts";
import type { Outcome } from "../../mod.ts";
import { endWords, EXIT_CODES_HELP, EXIT_OWN_FAILURE, EXIT_TIMEOUT, exitCodeOf } from "./exit_codes.ts";
import { clientOf, SERVER_HELP, SERVER_OPTIONS } from "./server.ts";
import { given, JSON_HELP, onlyId, print, printJson, say, secondsOf, type Verb } from "./verb.ts";

const HELP = `Examples
  offstage wait amber-otter-7k3f                  until it has ended; exits with its code
  offstage wait amber-otter-7k3f --timeout 60     for a minute at most

Options
  --timeout <seconds>   stop waiting then, with code 124; the session goes on
${JSON_HELP}
${SERVER_HELP}
${EXIT_CODES_HELP}`;

const OPTIONS = { ...SERVER_OPTIONS, timeout: { type: "string" }, json: { type: "boolean" } } as const;

/** Longest delay of a timer, ms. */
const LONGEST_MS = 2 ** 31 - 1;

/** The verb. */
export const wait: Verb = {
  help: HELP,
  run: async (args) => {
    const { values, positionals } = given(args, OPTIONS);
    const id = onlyId(positionals);
    const seconds = values.timeout === undefined ? undefined : secondsOf("timeout", values.timeout);
    const limit = seconds === undefined ? undefined : Math.min(Math.max(0, seconds * 1000), LONGEST_MS);
    const outcome = await endOf(clientOf(values), id, limit);
    if (outcome === "late") {
      if (values.json) await printJson({ sessionId: id, status: "running" });
      else say(`${id} still runs`);
      return EXIT_TIMEOUT;
    }
    if (outcome === undefined) {
      say(`how ${id} ended is not known any more`);
      return EXIT_OWN_FAILURE;
    }
    await (values.json ? printJson({ sessionId: id, ...outcome }) : print(`${endWords(outcome)}\n`));
    return exitCodeOf(outcome);
  },
};

/** How a session ends; it is no news to its agent that we know. */
async function endOf(client: Client, id: string, limitMs: number | undefined): Promise<Outcome | "late" | undefined> {
  const signal = limitMs === undefined ? undefined : AbortSignal.timeout(limitMs);
  try {
    // From the present end on: of the output nothing is wanted
    for await (const event of client.output(id, { since: 999_999_999_999_999, signal })) {
      if (event.type === "end") return event.exit ?? undefined;
    }
  } catch (error) {
    if (signal?.aborted) return "late";
    if (!(error instanceof ClientError) || error.code !== "unknown-session") throw error;
    const { details } = await client.process({ action: "poll", sessionId: id });
    if (!("departed" in details) || details.departed === undefined) throw error;
    return details.departed;
  }
  return undefined;
}
