/**
 * The options of `offstage serve`, checked.
 *
 * @module
 */
import { OffstageError } from "../../mod.ts";
import { FLEET_HELP, FLEET_OPTIONS, type FleetValues } from "./fleet.ts";
import type { LogFormat } from "./serve_log.ts";
import { givenOptions } from "./verb.ts";

/** Help of `offstage serve`. */
export const SERVE_HELP: string = `Examples
  offstage serve                                       on 127.0.0.1:7333, with a token that it prints
  offstage serve --port 0 --token-file tokens.txt      on a free port, with tokens of yours

Options
  --host <address>      where to listen; default 127.0.0.1. Elsewhere than on the loopback tokens are needed
  --port <number>       default 7333; 0 is any that is free
  --token-file <file>   lines of scope:token, the scope * is the admin's; nobody else may read the file.
                        Also OFFSTAGE_TOKENS="scope:token,...". Without any a token is made and printed
  --allow-host <name>   a name it may be called by beside localhost; may be repeated
  --allow-origin <url>  an origin whose pages may call it; may be repeated
  --log <text|json|off> one line a request on stderr; default text
  --on-exit <kill|wait> at SIGTERM or SIGINT: end the sessions at once (default), or wait for them to end
  --grace <seconds>     how long to wait; default 60. A second signal ends everything at once
  --json                print address and token as one line of JSON, for the program that starts it
${FLEET_HELP}`;

/** How to serve. */
export interface ServeOptions {
  /** The address to bind. */
  readonly hostname: string;
  /** The port to bind; 0 is any. */
  readonly port: number;
  /** A file of tokens. */
  readonly tokenFile: string | undefined;
  /** Names it may be called by. */
  readonly allowedHosts: readonly string[];
  /** Origins whose pages may call it. */
  readonly allowedOrigins: readonly string[];
  /** How requests are logged. */
  readonly log: LogFormat;
  /** How long sessions are waited for at the end, ms; 0 if they are not. */
  readonly graceMs: number;
  /** Whether a program reads where it listens. */
  readonly json: boolean;
  /** How nodes are found. */
  readonly fleet: FleetValues;
}

const OPTIONS = {
  ...FLEET_OPTIONS,
  "host": { type: "string", default: "127.0.0.1" },
  "port": { type: "string", default: "7333" },
  "token-file": { type: "string" },
  "allow-host": { type: "string", multiple: true },
  "allow-origin": { type: "string", multiple: true },
  "log": { type: "string", default: "text" },
  "on-exit": { type: "string", default: "kill" },
  "grace": { type: "string", default: "60" },
  "json": { type: "boolean", default: false },
} as const;

/**
 * Reads the options.
 *
 * @throws {OffstageError} `invalid`, or what `parseArgs` throws for an option that is not known
 */
export function serveOptions(args: readonly string[]): ServeOptions {
  const values = givenOptions(args, OPTIONS);
  const port = numberIn(values.port, "--port", 0, 65_535);
  if (!Number.isInteger(port)) throw wrong("--port", "a whole number", values.port);
  const graceMs = numberIn(values.grace, "--grace", 0, 86_400) * 1_000;
  const onExit = oneOf(values["on-exit"], "--on-exit", ["kill", "wait"]);
  return {
    hostname: values.host,
    port,
    tokenFile: values["token-file"],
    allowedHosts: (values["allow-host"] ?? []).map(hostOf),
    allowedOrigins: (values["allow-origin"] ?? []).map(originOf),
    log: oneOf(values.log, "--log", ["text", "json", "off"]),
    graceMs: onExit === "wait" ? graceMs : 0,
    json: values.json,
    fleet: values,
  };
}

/** A name, or an address as it stands in a URL. */
function hostOf(text: string): string {
  if (/^(?:[^\s/:]+|\[[0-9a-f:.]+\])$/i.test(text)) return text;
  throw wrong("--allow-host", "a name without a port", text);
}

/** An origin as browsers send it, whatever stands behind it. */
function originOf(text: string): string {
  const origin = URL.canParse(text) ? new URL(text).origin : "null";
  if (origin === "null") throw wrong("--allow-origin", "an origin such as https://app.example", text);
  return origin;
}

function numberIn(text: string, option: string, least: number, most: number): number {
  const value = text.trim() === "" ? NaN : Number(text);
  if (value >= least && value <= most) return value;
  throw wrong(option, `${least} to ${most}`, text);
}

function oneOf<T extends string>(text: string, option: string, known: readonly T[]): T {
  const found = known.find((word) => word === text);
  if (found !== undefined) return found;
  throw wrong(option, known.join(" or "), text);
}

function wrong(option: string, expected: string, given: string): OffstageError {
  return new OffstageError("invalid", `${option}: expected ${expected} but received "${given}"`);
}
