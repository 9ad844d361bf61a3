/**
 * `offstage doctor`: what works on this machine, found out by doing it, and which settings are in force.
 *
 * @module
 */
import { readFileSync } from "node:fs";
import process from "node:process";
import { type ExecConfig, explainSettings, OffstageError, type SettingOrigin } from "../../mod.ts";
import { lookAtClients } from "./doctor/clients.ts";
import { type Finding, findingLines, missing, problem } from "./doctor/finding.ts";
import { type AskNodes, lookAtNodes } from "./doctor/nodes.ts";
import { lookAtMachine } from "./doctor/machine.ts";
import { lookAtFrontEnds, lookAtRuntime } from "./doctor/packages.ts";
import { tryCommands } from "./doctor/trial.ts";
import { askFleet, FLEET_HELP, FLEET_OPTIONS, fleetOf, type FleetValues } from "./fleet.ts";
import { runtimeName } from "./runtime_name.ts";
import { clientOf, SERVER_HELP, SERVER_OPTIONS, type ServerValues } from "./server.ts";
import { given, JSON_HELP, print, printJson, usage, type Verb } from "./verb.ts";

/** Exit code when there is a problem. */
const EXIT_PROBLEM = 1;

/** What there is to know about a machine. */
export interface Diagnosis {
  /** The runtime and its version. */
  readonly runtime: string;
  /** Whether there is no problem; what is missing is optional. */
  readonly ok: boolean;
  /** What was looked at. */
  readonly findings: readonly Finding[];
  /** The settings in force, and where each came from; empty if the configuration is wrong. */
  readonly settings: readonly SettingOrigin[];
}

/**
 * Looks at everything and runs a few small commands.
 *
 * @param config what is configured at `tools.exec`
 * @param nodes asks for the nodes, if there is somebody to ask
 */
export async function diagnose(config: ExecConfig = {}, nodes?: AskNodes): Promise<Diagnosis> {
  const { settings, wrong } = settingsOf(config);
  const findings = [
    lookAtRuntime(),
    ...wrong,
    ...await tryCommands(wrong.some(({ state }) => state === "problem") ? {} : config),
    ...lookAtMachine(),
    ...lookAtClients(),
    ...(nodes === undefined ? [] : [await lookAtNodes(nodes)]),
    ...await lookAtFrontEnds(),
  ];
  return { runtime: runtimeName(), ok: !findings.some(({ state }) => state === "problem"), findings, settings };
}

function settingsOf(config: ExecConfig): Pick<Diagnosis, "settings"> & { readonly wrong: readonly Finding[] } {
  const environment = Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) => value === undefined ? [] : [[name, value]]),
  );
  try {
    const settings = explainSettings(config, environment);
    const wrong = settings.flatMap(({ key, from, ignored }) =>
      ignored.map((name) => {
        const why = from === "default" ? "it is not a whole number" : "something else has set it";
        return missing("configuration", `${name} has no effect on ${key}: ${why}`);
      })
    );
    return { settings, wrong };
  } catch (error) {
    if (!(error instanceof OffstageError)) throw error;
    return { settings: [], wrong: [problem("configuration", error.message)] };
  }
}

/** A diagnosis as lines for people: problems, what is missing, what is well, the settings. */
export function report({ findings, settings }: Diagnosis): string {
  const width = Math.max(0, ...settings.map(({ key }) => key.length));
  const lines = settings.map(({ key, value, from, variable }) =>
    `  ${key.padEnd(width)}  ${JSON.stringify(value) ?? "chosen"} (${variable ?? from})`
  );
  return [...findingLines(findings), "", ...(lines.length > 0 ? ["Settings", ...lines, ""] : [])].join("\n");
}

const HELP = `Examples
  offstage doctor                         what works on this machine, problems first, and the settings in force
  offstage doctor --config agent.json     the same with the settings of a file: { "tools": { "exec": { … } } }
  offstage doctor --nats nats://hub       the nodes of a fleet too; with --url those of a server

A line that begins with ! is a problem, with - something optional that is missing. Exits with 1 if there is a problem.

Options
  --config <file>       a configuration to look at
${JSON_HELP}
${FLEET_HELP}${SERVER_HELP}`;

const OPTIONS = { ...FLEET_OPTIONS, ...SERVER_OPTIONS, config: { type: "string" }, json: { type: "boolean" } } as const;

/** The verb. */
export const doctor: Verb = {
  help: HELP,
  run: async (args) => {
    const { values, positionals } = given(args, OPTIONS);
    if (positionals.length > 0) throw usage(`doctor takes no words, but there is "${positionals[0]}"`);
    const config = values.config === undefined ? {} : configIn(values.config);
    const diagnosis = await diagnose(config, await nodesOf(values));
    await (values.json ? printJson(diagnosis) : print(report(diagnosis)));
    return diagnosis.ok ? 0 : EXIT_PROBLEM;
  },
};

/** Who is to be asked for nodes: NATS, else a server that is named. */
async function nodesOf(values: FleetValues & ServerValues): Promise<AskNodes | undefined> {
  const { nodes } = await fleetOf(values);
  if (nodes !== undefined) return () => askFleet(nodes);
  return values.url === undefined ? undefined : () => clientOf(values).nodes();
}

/** What a file has at `tools.exec`. */
function configIn(file: string): ExecConfig {
  try {
    const config = JSON.parse(readFileSync(file, "utf8")) as { readonly tools?: { readonly exec?: ExecConfig } };
    return config.tools?.exec ?? {};
  } catch (error) {
    throw new OffstageError("invalid", `Cannot read ${file}: ${(error as Error).message}`, { cause: error });
  }
}
