/**
 * `offstage nodes`: the nodes of a server, or of a fleet.
 *
 * @module
 */
import process from "node:process";
import type { NodeInfo } from "../../mod.ts";
import { askFleet, FLEET_HELP, FLEET_OPTIONS, fleetOf } from "./fleet.ts";
import { clientOf, SERVER_HELP, SERVER_OPTIONS } from "./server.ts";
import { tableOf } from "./table.ts";
import { given, JSON_HELP, print, printJson, usage, type Verb } from "./verb.ts";

const HELP = `Examples
  offstage nodes                    where a server's commands can run
  offstage nodes --nats nats://hub  all nodes of a fleet; without --url also if OFFSTAGE_NATS_URL says where it is
  offstage nodes --json | jq -r '.[] | select(.state == "online").id'

Options
${JSON_HELP}
${SERVER_HELP}${FLEET_HELP}`;

const OPTIONS = { ...SERVER_OPTIONS, ...FLEET_OPTIONS, json: { type: "boolean" } } as const;

const HEAD = ["ID", "STATE", "RUNNING", "SYSTEM", "RUNTIME", "LABELS"] as const;

/** The verb. */
export const nodes: Verb = {
  help: HELP,
  run: async (args) => {
    const { values, positionals } = given(args, OPTIONS);
    if (positionals.length > 0) throw usage(`nodes takes no words, but there is "${positionals[0]}"`);
    const { nodes } = values.url !== undefined && values.nats === undefined ? {} : await fleetOf(values);
    const found = await (nodes === undefined ? clientOf(values).nodes() : askFleet(nodes));
    if (values.json) await printJson(found);
    else await print(tableOf([HEAD, ...found.map(rowOf)], process.stdout.columns));
    return 0;
  },
};

function rowOf({ id, state, running, system = "-", runtime = "-", labels, lastSeenMs }: NodeInfo): readonly string[] {
  const since = state === "lost" && lastSeenMs !== undefined ? ` for ${Math.round(lastSeenMs / 1_000)}s` : "";
  return [id, state + since, String(running), system, runtime, labelText(labels)];
}

/** Labels as `exec` is given them. */
export function labelText(labels: NodeInfo["labels"]): string {
  return Object.entries(labels).map(([label, value]) => value === "" ? label : `${label}=${value}`).join(" ");
}
