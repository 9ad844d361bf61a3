/**
 * `offstage serve`: the HTTP API on this runtime, until a signal ends it.
 *
 * @module
 */
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { type Offstage, OffstageError } from "../../mod.ts";
import { createOffstage } from "../auto.ts";
import type { HttpOptions } from "../http.ts";
import type { HttpServer } from "../http/serve/server.ts";
import { fleetOf } from "./fleet.ts";
import { runtimeName } from "./runtime_name.ts";
import { loadServer } from "./server_parts.ts";
import { errorLine, requestLine } from "./serve_log.ts";
import { type ServeOptions, serveOptions } from "./serve_options.ts";
import { signalled } from "./signalled.ts";
import { givenTokens, newToken } from "./token_source.ts";

/** How often it is looked whether sessions that are waited for have ended, ms. */
const LOOK_MS = 100;

/** Serves until a signal comes; resolves with the exit code once everything has ended. */
export async function serve(args: readonly string[]): Promise<number> {
  const options = serveOptions(args);
  const { hostname, log } = options;
  const given = givenTokens(options.tokenFile);
  if (given.size === 0 && !isLoopback(hostname)) {
    throw new OffstageError(
      "invalid",
      `Not without tokens on ${hostname}: whoever reaches it could run commands. Give --token-file or OFFSTAGE_TOKENS, ` +
        "or listen on 127.0.0.1",
    );
  }
  const made = given.size === 0 ? newToken() : undefined;
  const draining = new AbortController();
  const closing = new AbortController();
  const offstage = createOffstage({
    ...await fleetOf(options.fleet),
    endOnSignals: false,
    // Whatever front end a command comes through
    authorize: () => draining.signal.aborted ? { allow: false, reason: "the server is about to end" } : { allow: true },
  });
  const ending = signalled();
  const server = await start(offstage, options, {
    tokens: made === undefined ? given : new Map([[made, "default"]]),
    closing: closing.signal,
    isHealthy: () => !draining.signal.aborted,
    ...(log !== "off" && { onRequest: (record) => tell(requestLine(record, log)) }),
    onError: (error) => tell(errorLine(error, log)),
  });
  const url = `http://${inUrl(isWildcard(hostname) ? "127.0.0.1" : hostname)}:${server.port}`;
  process.stdout.write(options.json ? greetingJson(url, made) : greeting(url, made));
  if (isWildcard(hostname) && options.allowedHosts.length === 0) {
    tell("offstage: only requests for localhost are answered; name this machine's other names with --allow-host");
  }
  await ending;
  draining.abort();
  await idle(offstage, options.graceMs);
  closing.abort();
  await offstage.close(); // calls that wait for a session are answered now
  await server.close();
  return process.exit(0); // a viewer that reads nothing would hold Deno: it cannot cut WebSockets
}

async function start(offstage: Offstage, options: ServeOptions, app: HttpOptions): Promise<HttpServer> {
  const { hostname, port, allowedHosts, allowedOrigins } = options;
  const { create, listen } = await loadServer();
  const own = isWildcard(hostname) ? [] : [inUrl(hostname)];
  try {
    return await listen(
      (host) => create(offstage, { ...app, ...host, allowedHosts: [...allowedHosts, ...own], allowedOrigins }),
      { hostname, port },
    );
  } catch (error) {
    throw listenError(error, options);
  }
}

/** Waits until no command runs, at most that long. */
async function idle(offstage: Offstage, ms: number): Promise<void> {
  const until = performance.now() + ms;
  const isBusy = (): boolean => offstage.activeCount() > 0 || offstage.stats().sessions.foreground > 0;
  while (performance.now() < until && isBusy()) await sleep(LOOK_MS);
}

/** The same for a program: where, and with what token; `null` if that is one it has been given. */
function greetingJson(url: string, made: string | undefined): string {
  return `${JSON.stringify({ url, page: pageOf(url, made), token: made ?? null, runtime: runtimeName() })}\n`;
}

function pageOf(url: string, made: string | undefined): string {
  return `${url}/${made === undefined ? "" : `#token=${made}`}`;
}

function greeting(url: string, made: string | undefined): string {
  return [
    `Offstage on ${runtimeName()} listens on ${url}`,
    ...(made === undefined ? [] : [`Token of the scope default: ${made}`]),
    `The page: ${pageOf(url, made)}`,
    "A command through it:",
    `  curl -s ${url}/v1/exec -H "Authorization: Bearer ${made ?? "$TOKEN"}" -H "Content-Type: application/json" ` +
    `-d '{"command": "echo hello"}'`,
    "",
  ].join("\n");
}

function tell(line: string): void {
  process.stderr.write(`${line}\n`);
}

function listenError(error: unknown, { hostname, port }: ServeOptions): unknown {
  const { code, name, message } = error as {
    readonly code?: string;
    readonly name?: string;
    readonly message?: string;
  };
  if (error instanceof OffstageError) return error;
  if (code === "EADDRINUSE" || name === "AddrInUse") {
    return new OffstageError("invalid", `Port ${port} is taken: choose another one with --port; 0 is any that is free`);
  }
  return new OffstageError("invalid", `Cannot listen on ${hostname}, port ${port}: ${message}`, { cause: error });
}

function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "::1" || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}

function isWildcard(hostname: string): boolean {
  return hostname === "0.0.0.0" || hostname === "::";
}

function inUrl(hostname: string): string {
  return hostname.includes(":") ? `[${hostname}]` : hostname;
}
