/**
 * `offstage node`: makes this machine a node of a fleet, until a signal ends it.
 *
 * @module
 */
import { hostname } from "node:os";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { OffstageError } from "../../mod.ts";
import { type NatsConnection, type ServedNode, serveNode, type ServeNodeOptions } from "../hosts/nats.ts";
import { EXIT_OWN_FAILURE } from "./exit_codes.ts";
import { takeNatsVariables } from "./nats_variables.ts";
import { signalled } from "./signalled.ts";
import { givenOptions, say, secondsOf, type Verb } from "./verb.ts";

const OPTIONS = {
  "nats": { type: "string" },
  "creds": { type: "string" },
  "nkey": { type: "string" },
  "prefix": { type: "string" },
  "tls-ca": { type: "string" },
  "tls-cert": { type: "string" },
  "tls-key": { type: "string" },
  "id": { type: "string" },
  "label": { type: "string", multiple: true },
  "scope": { type: "string", multiple: true },
  "workdir": { type: "string" },
  "lease": { type: "string" },
} as const;

const HELP = `Examples
  offstage node --nats nats://hub --id builder-1               commands of gateways on the same NATS can run here
  offstage node --nats nats://hub --label gpu --label arch=arm those that ask for any:gpu or any:arch=arm too

Options
  --nats <url>           servers, with commas between them; also OFFSTAGE_NATS_URL; default 127.0.0.1:4222
  --creds <file>         a credentials file for NATS. A user, password or token come from OFFSTAGE_NATS_USER,
                         OFFSTAGE_NATS_PASSWORD and OFFSTAGE_NATS_TOKEN
  --nkey <file>          a file with the seed of an NKey for NATS
  --tls-ca <file>        certificates to trust; --tls-cert and --tls-key: this machine's own
  --prefix <word>        in front of all subjects, as the gateways have it; default offstage
  --id <name>            what the node is called; default: this machine's name
  --label <name[=value]> by which it can be chosen; may be repeated
  --scope <name,...>     whose commands it runs; others are refused; default: everybody's
  --workdir <directory>  where commands run unless they say otherwise; default: the current directory
  --lease <seconds>      a gateway that is silent for longer has its commands ended here; default 15
`;

/** Pause before a server that is not there is tried again, ms. */
const RETRY_MS = 1_000;

/** The verb. */
export const node: Verb = { help: HELP, run };

async function run(args: readonly string[]): Promise<number> {
  const options = optionsOf(args);
  const stopping = signalled();
  const served = await serveWhenThere(options, stopping);
  if (served === undefined) return 0;
  process.stdout.write(`Node ${served.id} is there\n`);
  await Promise.race([stopping, served.ended]);
  await served.close();
  const reason = await served.ended;
  if (reason === undefined) return 0;
  say(reason.message);
  return EXIT_OWN_FAILURE;
}

/** Waits for a server that is not there yet; `undefined` if a signal comes first. */
async function serveWhenThere(options: ServeNodeOptions, stopping: Promise<void>): Promise<ServedNode | undefined> {
  let isStopped = false;
  void stopping.then(() => isStopped = true);
  let told = "";
  while (!isStopped) {
    try {
      return await serveNode(options);
    } catch (error) {
      if (!(error instanceof OffstageError) || error.code !== "spawn-failed") throw error;
      if (told !== error.message) say(`${error.message}; trying again`);
      told = error.message;
      await Promise.race([stopping, sleep(RETRY_MS)]);
    }
  }
  return undefined;
}

function optionsOf(args: readonly string[]): ServeNodeOptions {
  const values = givenOptions(args, OPTIONS);
  const { url, ...login } = takeNatsVariables();
  const scopes = values.scope?.flatMap((list) => list.split(",")).filter((scope) => scope !== "");
  const connection: NatsConnection = {
    ...(values.creds === undefined && values.nkey === undefined && login),
    ...(values.creds !== undefined && { credsFile: values.creds }),
    ...(values.nkey !== undefined && { nkeyFile: values.nkey }),
    ...(values.prefix !== undefined && { prefix: values.prefix }),
    ...tlsOf(values),
  };
  return {
    ...connection,
    url: values.nats ?? url ?? "127.0.0.1:4222",
    id: values.id ?? hostname().replaceAll(/[^A-Za-z0-9_-]/g, "-"),
    labels: labelsOf(values.label ?? []),
    ...(scopes !== undefined && { scopes }),
    ...(values.workdir !== undefined && { cwd: values.workdir }),
    ...(values.lease !== undefined && { leaseMs: secondsOf("lease", values.lease) * 1_000 }),
    endOnSignals: false,
    onTrouble: (error) => say(error.message),
  };
}

function tlsOf(values: { readonly [Key in "tls-ca" | "tls-cert" | "tls-key"]?: string }): Pick<NatsConnection, "tls"> {
  const { "tls-ca": caFile, "tls-cert": certFile, "tls-key": keyFile } = values;
  if (caFile === undefined && certFile === undefined && keyFile === undefined) return {};
  return {
    tls: {
      ...(caFile !== undefined && { caFile }),
      ...(certFile !== undefined && { certFile }),
      ...(keyFile !== undefined && { keyFile }),
    },
  };
}

/** `gpu` is a label without a value, `arch=arm` one with a value. */
function labelsOf(words: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(words.map((word) => {
    const [name = "", ...value] = word.split("=");
    return [name, value.join("=")];
  }));
}
