/**
 * How to reach NATS: servers, credentials, prefix. The same for gateways and nodes.
 *
 * @module
 */
import { readFileSync } from "node:fs";
import { OffstageError, type Problem } from "../../../mod.ts";
import { isPrefix } from "./protocol.ts";

/** How to reach NATS. Of the credentials, give those that the server asks for. */
export interface NatsConnection {
  /**
   * Servers: `host`, `host:port` or `nats://user:password@host:port`, or several of them. `tls://` insists on TLS.
   *
   * @default {"127.0.0.1:4222"}
   */
  readonly url?: string | readonly string[];
  /** Name of a NATS user. */
  readonly user?: string;
  /** That user's password. */
  readonly password?: string;
  /** A token. */
  readonly token?: string;
  /** A credentials file of a NATS account (`.creds`): its text. */
  readonly creds?: string;
  /** The same: its path. It is read again at each new connection, so it may be renewed. */
  readonly credsFile?: string;
  /** Seed of an NKey (`SU…`). */
  readonly nkeySeed?: string;
  /** The same in a file. */
  readonly nkeyFile?: string;
  /** Paths of PEM files, for servers with certificates of your own or that ask for one. */
  readonly tls?: { readonly caFile?: string; readonly certFile?: string; readonly keyFile?: string };
  /**
   * Stands in front of all subjects, so that several fleets can share an account. Gateways and nodes of a fleet have the
   * same.
   *
   * @default {"offstage"}
   */
  readonly prefix?: string;
}

/** What is used when nothing else is given. */
export const DEFAULT_PREFIX = "offstage";

/** Its options. */
export const CONNECTION_OPTIONS: Readonly<Record<keyof NatsConnection, true>> = {
  url: true,
  user: true,
  password: true,
  token: true,
  creds: true,
  credsFile: true,
  nkeySeed: true,
  nkeyFile: true,
  tls: true,
  prefix: true,
};

/** What is wrong with it. */
export function connectionProblems(options: NatsConnection): readonly Problem[] {
  const problems: Problem[] = [];
  for (const url of urlsOf(options)) {
    if (parse(url) === undefined) {
      problems.push({ key: "url", message: "must be host, host:port or nats://user:password@host:port" });
    }
  }
  if (options.prefix !== undefined && !isPrefix(options.prefix)) {
    problems.push({ key: "prefix", message: "must be words of letters, digits, - and _ with points between them" });
  }
  if (options.password !== undefined && options.user === undefined) {
    problems.push({ key: "user", message: "must be given: there is a password" });
  }
  const kinds = [
    options.user,
    options.token,
    options.creds,
    options.credsFile,
    options.nkeySeed,
    options.nkeyFile,
  ].filter((kind) => kind !== undefined);
  if (kinds.length > 1) {
    problems.push({
      key: "user",
      message: "one of user, token, creds, credsFile, nkeySeed and nkeyFile, not several",
    });
  }
  return problems;
}

/** Servers with no credentials in their names: for the library, and for messages. */
export function serversOf(options: NatsConnection): readonly string[] {
  return urlsOf(options).map((url) => parse(url)?.server ?? "");
}

/** Whether TLS is insisted on. */
export function insistsOnTls(options: NatsConnection): boolean {
  return urlsOf(options).some((url) => /^(tls|nats\+tls):/i.test(url));
}

/** User and password, from wherever they were given. */
export function userOf(options: NatsConnection): { readonly user: string; readonly password: string } | undefined {
  if (options.user !== undefined) return { user: options.user, password: options.password ?? "" };
  return urlsOf(options).map((url) => parse(url)?.login).find((login) => login !== undefined);
}

/** Text of a file with a secret. */
export function secretOf(path: string, key: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (cause) {
    throw new OffstageError("invalid", `Cannot read the file of ${key}: ${(cause as Error).message}`, { cause });
  }
}

function urlsOf({ url = "127.0.0.1:4222" }: NatsConnection): readonly string[] {
  return typeof url === "string" ? url.split(",").map((each) => each.trim()) : url;
}

/** A server's name taken apart. */
interface Parsed {
  readonly server: string;
  readonly login: { readonly user: string; readonly password: string } | undefined;
}

function parse(url: string): Parsed | undefined {
  const match = /^(?:(?:nats|tls|nats\+tls):\/\/)?(?:([^@/]*)@)?([^@/\s]+)\/?$/i.exec(url);
  const [, login, server] = match ?? [];
  if (server === undefined || !URL.canParse(`http://${server}`)) return undefined;
  if (login === undefined) return { server, login: undefined };
  const [user = "", password = ""] = login.split(/:(.*)/s);
  try {
    return { server, login: { user: decodeURIComponent(user), password: decodeURIComponent(password) } };
  } catch {
    return undefined; // a % that is none of an escape
  }
}
