/**
 * Nodes that are found over NATS, for the verbs that run commands there or tell who is there.
 *
 * @module
 */
import type { NodeDirectory, NodeInfo } from "../../mod.ts";
import { createOffstage } from "../auto.ts";
import type { NatsConnection } from "../hosts/nats.ts";
import { takeNatsVariables } from "./nats_variables.ts";
import { usage } from "./verb.ts";

/** The options that say where NATS is, and who we are there. */
export const FLEET_OPTIONS = {
  "nats": { type: "string" },
  "nats-creds": { type: "string" },
  "nats-nkey": { type: "string" },
  "nats-prefix": { type: "string" },
  "nats-tls-ca": { type: "string" },
  "nats-tls-cert": { type: "string" },
  "nats-tls-key": { type: "string" },
} as const;

/** Help about them. */
export const FLEET_HELP: string =
  `  --nats <url>          a fleet: nodes that offstage node has made, where exec runs commands with host node. Servers,
                        with commas between them; also OFFSTAGE_NATS_URL
  --nats-creds <file>   a credentials file for NATS. A user, password or token come from OFFSTAGE_NATS_USER,
                        OFFSTAGE_NATS_PASSWORD and OFFSTAGE_NATS_TOKEN
  --nats-nkey <file>    a file with the seed of an NKey for NATS
  --nats-tls-ca <file>  certificates to trust; --nats-tls-cert and --nats-tls-key: this machine's own
  --nats-prefix <word>  in front of all subjects, as the nodes have it; default offstage
`;

/** What was given of these. */
export type FleetValues = { readonly [Name in keyof typeof FLEET_OPTIONS]?: string | undefined };

/**
 * The nodes, as `createOffstage` takes them: none if no server is named. What the environment says of NATS is taken out
 * of it.
 *
 * @throws {OffstageError} `invalid` if something is wrong with what was given
 */
export async function fleetOf(values: FleetValues): Promise<{ readonly nodes?: NodeDirectory }> {
  const { url, ...login } = takeNatsVariables();
  const where = values.nats ?? url;
  if (where === undefined) {
    const [option] = Object.keys(values).filter((name) => name.startsWith("nats-"));
    if (option === undefined) return {};
    throw usage(`--${option} is about NATS: say where it is by --nats or OFFSTAGE_NATS_URL`);
  }
  const { nats } = await import("../hosts/nats.ts");
  return { nodes: nats({ ...connectionOf(values, login), url: where }) };
}

/** Asks a directory, which is not needed any more. */
export async function askFleet(nodes: NodeDirectory): Promise<readonly NodeInfo[]> {
  const offstage = createOffstage({ nodes });
  try {
    return await offstage.nodes();
  } finally {
    await offstage.close();
  }
}

/** A file with credentials goes before what the environment says. */
function connectionOf(values: FleetValues, login: NatsConnection): NatsConnection {
  const given = {
    credsFile: values["nats-creds"],
    nkeyFile: values["nats-nkey"],
    prefix: values["nats-prefix"],
  };
  const tls = present({
    caFile: values["nats-tls-ca"],
    certFile: values["nats-tls-cert"],
    keyFile: values["nats-tls-key"],
  });
  return {
    ...(given.credsFile === undefined && given.nkeyFile === undefined && login),
    ...present(given),
    ...(Object.keys(tls).length > 0 && { tls }),
  };
}

/** What there is of these. */
function present<Key extends string>(
  texts: { readonly [K in Key]: string | undefined },
): { readonly [K in Key]?: string } {
  return Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== undefined)) as { [K in Key]?: string };
}
