/**
 * `offstage rm`: ends sessions and forgets them.
 *
 * @module
 */
import { endWords, EXIT_OWN_FAILURE } from "./exit_codes.ts";
import { clientOf, SERVER_HELP, SERVER_OPTIONS } from "./server.ts";
import { given, JSON_HELP, print, printJson, say, someIds, usage, type Verb } from "./verb.ts";

const HELP = `Examples
  offstage rm amber-otter-7k3f    forgets it; if it runs, it is ended
  offstage rm --all               every session of the token's scope; waits for their ends

Options
  --all                 all of them
${JSON_HELP}
${SERVER_HELP}`;

const OPTIONS = { ...SERVER_OPTIONS, all: { type: "boolean" }, json: { type: "boolean" } } as const;

/** The verb. */
export const rm: Verb = {
  help: HELP,
  run: async (args) => {
    const { values, positionals } = given(args, OPTIONS);
    const client = clientOf(values);
    if (values.all) {
      if (positionals.length > 0) throw usage("Give ids, or --all");
      const ended = await client.killAll();
      if (values.json) await printJson(ended);
      else await print(ended.map(({ sessionId, outcome }) => `${sessionId}: ${endWords(outcome)}\n`).join(""));
      return 0;
    }
    let code = 0;
    for (const id of someIds(positionals)) {
      const answer = await client.process({ action: "remove", sessionId: id });
      if (values.json) await printJson({ ...answer.details, sessionId: id });
      else if (answer.isError) say(answer.text);
      else await print(`${id}\n`);
      if (answer.isError) code = EXIT_OWN_FAILURE;
    }
    return code;
  },
};
