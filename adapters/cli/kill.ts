/**
 * `offstage kill`: ends sessions, or sends them a signal.
 *
 * @module
 */
import type { SignalName } from "../../mod.ts";
import { EXIT_OWN_FAILURE } from "./exit_codes.ts";
import { clientOf, SERVER_HELP, SERVER_OPTIONS } from "./server.ts";
import { given, JSON_HELP, print, printJson, say, secondsOf, someIds, type Verb } from "./verb.ts";

const HELP = `Examples
  offstage kill amber-otter-7k3f                  ends it and all it has started; waits for that
  offstage kill amber-otter-7k3f -s INT           sends one signal, as Ctrl-C does
  offstage kill $(offstage ps -q)                 ends all

Options
  -s, --signal <name>   only send this signal: INT, SIGINT or 2
  --wait <seconds>      how long to wait for the end; default 15, with a signal 0; at most 30
${JSON_HELP}
${SERVER_HELP}`;

const OPTIONS = {
  ...SERVER_OPTIONS,
  signal: { type: "string", short: "s" },
  wait: { type: "string" },
  json: { type: "boolean" },
} as const;

/** Longer than the ladder takes (SIGTERM, 5 s, SIGKILL, 4 s), s. */
const DEFAULT_WAIT_S = "15";

/** The verb. */
export const kill: Verb = {
  help: HELP,
  run: async (args) => {
    const { values, positionals } = given(args, OPTIONS);
    const { signal } = values;
    const seconds = secondsOf("wait", values.wait ?? (signal === undefined ? DEFAULT_WAIT_S : "0"));
    const client = clientOf(values);
    const params = {
      action: "kill",
      wait: Math.min(30, Math.max(0, seconds)) * 1000,
      ...(signal !== undefined && { signal: signal as SignalName }),
    } as const;
    const answers = await Promise.all(
      someIds(positionals).map(async (sessionId) => ({ sessionId, ...await client.process({ ...params, sessionId }) })),
    );
    let isDone = true;
    for (const { sessionId, text, details, isError } of answers) {
      isDone &&= !isError && (signal !== undefined || ("confirmed" in details && details.confirmed) || seconds === 0);
      if (values.json) await printJson({ ...details, sessionId });
      else if (isError) say(text);
      else await print(`${sessionId}: ${text}\n`);
    }
    return isDone ? 0 : EXIT_OWN_FAILURE;
  },
};
