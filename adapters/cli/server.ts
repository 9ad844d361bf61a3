/**
 * The server that most verbs speak to, and the token for it.
 *
 * @module
 */
import { readFileSync } from "node:fs";
import process from "node:process";
import { type Client, type ClientSocketConstructor, createClient } from "../client.ts";
import { TOKEN_ORIGIN, usage } from "./verb.ts";

/** Where a server is unless somebody says otherwise. */
const DEFAULT_URL = "http://127.0.0.1:7333";

/** The options that say which server, with which token. */
export const SERVER_OPTIONS = {
  "url": { type: "string" },
  "token": { type: "string" },
  "token-file": { type: "string" },
  "scope": { type: "string" },
} as const;

/** Help about them. */
export const SERVER_HELP: string = `  --url <url>           the server; default OFFSTAGE_URL, else ${DEFAULT_URL}
  --token-file <file>   a file with the token: alone, or as scope:token like the server's own; the first one counts,
                        or that of --scope. Also OFFSTAGE_TOKEN=<token>
  --token <token>       the token itself; other users of this machine may see it in the list of processes
  --scope <scope>       act in that scope; takes its token, or the admin's
`;

/** What was given of these. */
export interface ServerValues {
  readonly url?: string | undefined;
  readonly token?: string | undefined;
  readonly "token-file"?: string | undefined;
  readonly scope?: string | undefined;
}

/**
 * A client of the server that is meant.
 *
 * @param Socket for `attach`, where the runtime has none itself
 */
export function clientOf({ url, scope, ...values }: ServerValues, Socket?: ClientSocketConstructor): Client {
  const token = values.token ??
    (values["token-file"] === undefined ? undefined : tokenIn(values["token-file"], scope)) ??
    process.env["OFFSTAGE_TOKEN"];
  if (token === undefined || token === "") {
    throw usage(`No token: give --token-file, or OFFSTAGE_TOKEN: ${TOKEN_ORIGIN}`);
  }
  return createClient({
    url: url ?? process.env["OFFSTAGE_URL"] ?? DEFAULT_URL,
    token,
    ...(scope !== undefined && { scope }),
    ...(Socket !== undefined && { WebSocket: Socket }),
  });
}

/** The token in a file: of the scope, else of the admin; the first one there if no scope is wanted. */
function tokenIn(file: string, scope: string | undefined): string {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    throw usage(`Cannot read ${file}: ${(error as Error).message}`);
  }
  const lines = text.split("\n").map((line) => line.trim()).filter((line) => line !== "" && !line.startsWith("#"));
  const lineOf = (name: string): string | undefined => lines.find((each) => each.startsWith(`${name}:`));
  const line = (scope === undefined ? undefined : lineOf(scope) ?? lineOf("*")) ?? lines[0];
  if (line === undefined) throw usage(`There is no token in ${file}`);
  return line.slice(line.lastIndexOf(":") + 1).trim(); // a token has no colon
}
