/**
 * One connection to NATS, which comes back by itself: the only part that knows the library.
 *
 * @module
 */
import { setTimeout as delay } from "node:timers/promises";
import type { Authenticator, ConnectionOptions, Msg, NatsConnection as Connection } from "@nats-io/transport-node";
import { OffstageError } from "../../../mod.ts";
import { insistsOnTls, type NatsConnection, secretOf, serversOf, userOf } from "./connection.ts";
import { type SocketOpener, withstandLateErrors } from "./late_errors.ts";

/** A message that came. */
export interface Message {
  /** Where it came to. */
  readonly subject: string;
  /** What it says. */
  readonly data: Uint8Array;
  /** Answers it, if it is a request. */
  respond(answer: Uint8Array): void;
}

/** What came of a request: an answer, nobody who listens, or nothing in time. */
export type Reply = Uint8Array | "nobody" | "late";

/** A connection. What is sent while it is cut is lost. */
export interface Wire {
  /** Sends. */
  publish(subject: string, data: Uint8Array): void;
  /** Sends, and waits for the answer; while the connection is cut, for the connection too. */
  request(subject: string, data: Uint8Array, limitMs: number): Promise<Reply>;
  /** Sends to many, and hands on what they answer within that time. */
  ask(subject: string, data: Uint8Array, waitMs: number, hear: (answer: Uint8Array) => void): Promise<void>;
  /** Hears what comes from now on, and after a cut again. */
  subscribe(subject: string, hear: (message: Message) => void): void;
  /** Resolves once the server knows of what was sent and subscribed before. */
  flush(): Promise<void>;
  /** Whether it is there at present. */
  isConnected(): boolean;
  /** Most bytes of a message. */
  maxBytes(): number;
  /** Sends what is to be sent, and closes. */
  close(): Promise<void>;
}

/** What the owner of a connection wants to know. */
export interface WireEvents {
  /** Its name in the server's lists. */
  readonly name: string;
  /** Where its answers go to. */
  readonly inbox: string;
  /** It is back after a cut. */
  onBack(): void;
  /** The server refuses something, or does not take the credentials any more. */
  onTrouble?(error: OffstageError): void;
}

const CONNECT_LIMIT_MS = 5_000;
const RECONNECT_MS = 250;
const RECONNECT_JITTER_MS = 250;

/** A connection that is dead without a word is noticed after three times that, ms. */
const PING_MS = 3_000;

/** A server that does not take what is left may be gone, ms. */
const DRAIN_LIMIT_MS = 2_000;

const PACKAGE = "@nats-io/transport-node";

/** From node_modules or the import map, else, on Deno, from npm. Plain strings: nothing looks for it before it is used. */
const SOURCES: readonly string[] = [PACKAGE, ...("Deno" in globalThis ? [`npm:${PACKAGE}@^3.4.0`] : [])];

/**
 * Connects.
 *
 * @throws {OffstageError} `unsupported` without the library, `refused` if the server refuses, `spawn-failed` if it is not
 * there, `invalid` for credentials that are none
 */
export async function connectWire(options: NatsConnection, events: WireEvents): Promise<Wire> {
  const library = await loadNats();
  const servers = serversOf(options);
  const where = servers.join(", ");
  let connection: Connection;
  try {
    connection = await library.connect({
      ...credentials(library, options),
      ...(insistsOnTls(options) || options.tls !== undefined ? { tls: { ...options.tls } } : {}),
      servers: [...servers],
      name: events.name,
      inboxPrefix: events.inbox,
      timeout: CONNECT_LIMIT_MS,
      maxReconnectAttempts: -1,
      reconnectDelayHandler: () => RECONNECT_MS + Math.random() * RECONNECT_JITTER_MS,
      ignoreAuthErrorAbort: true, // they may be put right: it goes on trying
      pingInterval: PING_MS,
      maxPingOut: 2, // a busy machine may be late with one
      noAsyncTraces: true,
    });
  } catch (error) {
    throw connectFailure(error, where);
  }
  return wireOf(connection, events, where);
}

type Library = typeof import("@nats-io/transport-node");

/**
 * Loads the library of NATS.
 *
 * @throws {OffstageError} `unsupported` if it is not there
 */
export async function loadNats(): Promise<Library> {
  let cause: unknown;
  for (const source of SOURCES) {
    try {
      const library = await import(source) as Library;
      if ("Deno" in globalThis) await withstand(source);
      return library;
    } catch (error) {
      cause ??= error;
    }
  }
  throw new OffstageError(
    "unsupported",
    `A fleet over NATS takes the package ${PACKAGE}, which cannot be loaded: npm install ${PACKAGE}`,
    { cause },
  );
}

/** The library goes on without, should it have no such part any more. */
async function withstand(source: string): Promise<void> {
  try {
    const { NodeTransport } = await import(`${source}/lib/node_transport.js`) as {
      readonly NodeTransport?: SocketOpener;
    };
    if (NodeTransport !== undefined) withstandLateErrors(NodeTransport);
  } catch {
    // As it says
  }
}

function credentials(library: Library, options: NatsConnection): Partial<ConnectionOptions> {
  const encoder = new TextEncoder();
  const { creds, credsFile, nkeySeed, nkeyFile, token } = options;
  try {
    if (creds !== undefined) return { authenticator: library.credsAuthenticator(encoder.encode(creds)) };
    if (credsFile !== undefined) return { authenticator: renewedCredentials(library, credsFile) };
    const seed = nkeyFile === undefined ? nkeySeed : secretOf(nkeyFile, "nkeyFile");
    if (seed !== undefined) return { authenticator: library.nkeyAuthenticator(encoder.encode(seed.trim())) };
  } catch (error) {
    if (error instanceof OffstageError) throw error;
    throw new OffstageError("invalid", `These credentials for NATS are none: ${(error as Error).message}`);
  }
  if (token !== undefined) return { token };
  const login = userOf(options);
  return login === undefined ? {} : { user: login.user, pass: login.password };
}

/**
 * Reads the file at each connection. While it is being renewed it may not be there, or not whole: what it had before is
 * used once more, for an authenticator that throws ends the connection for good.
 *
 * @throws {OffstageError} `invalid` if it cannot be read now
 */
function renewedCredentials({ credsAuthenticator }: Library, path: string): Authenticator {
  const encoder = new TextEncoder();
  const now = (): Authenticator => credsAuthenticator(encoder.encode(secretOf(path, "credsFile")));
  let latest = now();
  return (nonce) => {
    try {
      const renewed = now();
      const answer = renewed(nonce);
      latest = renewed;
      return answer;
    } catch {
      return latest(nonce);
    }
  };
}

function connectFailure(error: unknown, where: string): OffstageError {
  const { name, message } = error as Error;
  if (name === "AuthorizationError" || name === "UserAuthenticationExpiredError") {
    return new OffstageError("refused", `NATS at ${where} does not take these credentials: ${message}`, {
      cause: error,
    });
  }
  return new OffstageError("spawn-failed", `Cannot reach NATS at ${where}: ${message}`, { cause: error });
}

function wireOf(connection: Connection, events: WireEvents, where: string): Wire {
  let isConnected = true;
  let waiting: (() => void)[] = [];

  const attempt = (action: () => void): void => {
    try {
      action();
    } catch {
      // Closed meanwhile, or too large for the server, which whoever sends has seen to
    }
  };

  async function follow(): Promise<void> {
    for await (const status of connection.status()) {
      if (status.type === "disconnect") isConnected = false;
      if (status.type === "reconnect") {
        isConnected = true;
        for (const go of waiting.splice(0)) go();
        events.onBack();
      }
      if (status.type === "error") {
        events.onTrouble?.(new OffstageError("refused", `NATS at ${where}: ${status.error.message}`));
      }
    }
  }
  void follow();

  /** Resolves when it is there (again), or after that time. */
  async function connected(limitMs: number): Promise<void> {
    if (isConnected) return;
    const aborter = new AbortController();
    const back = new Promise<void>((resolve) => waiting.push(resolve));
    await Promise.race([back, delay(limitMs, undefined, { signal: aborter.signal, ref: false }).catch(() => {})]);
    aborter.abort();
  }

  return {
    publish: (subject, data) => {
      if (isConnected) attempt(() => connection.publish(subject, data));
    },
    request: async (subject, data, limitMs) => {
      const until = performance.now() + limitMs;
      await connected(limitMs);
      const left = until - performance.now();
      if (!isConnected || left <= 0) return "late";
      try {
        return (await connection.request(subject, data, { timeout: left })).data;
      } catch (error) {
        return outcomeOf(error, where);
      }
    },
    ask: async (subject, data, waitMs, hear) => {
      await connected(waitMs);
      try {
        const answers = await connection.requestMany(subject, data, { strategy: "timer", maxWait: waitMs });
        for await (const { data } of answers) hear(data);
      } catch (error) {
        outcomeOf(error, where); // nobody, or cut
      }
    },
    subscribe: (subject, hear) => {
      connection.subscribe(subject, {
        callback: (error, message: Msg) => {
          if (error !== null) return;
          const respond = (answer: Uint8Array): void => attempt(() => void message.respond(answer));
          try {
            hear({ subject: message.subject, data: message.data, respond });
          } catch (cause) { // thrown into the library it would end all reading
            events.onTrouble?.(
              new OffstageError("invalid", `A message to ${message.subject} failed: ${cause}`, { cause }),
            );
          }
        },
      });
    },
    flush: () => connection.flush().catch(() => {}),
    isConnected: () => isConnected,
    maxBytes: () => connection.info?.max_payload ?? 1_048_576,
    close: async () => {
      waiting = [];
      if (!isConnected) return await connection.close();
      const aborter = new AbortController();
      const late = delay(DRAIN_LIMIT_MS, undefined, { signal: aborter.signal }).catch(() => {});
      await Promise.race([connection.drain().catch(() => {}), late]);
      aborter.abort();
      await connection.close();
    },
  };
}

/** What it means that a request failed. */
function outcomeOf(error: unknown, where: string): "nobody" | "late" {
  const { name, message, cause } = error as Error;
  const names = [name, (cause as Error | undefined)?.name];
  if (names.includes("NoResponders")) return "nobody";
  if (names.includes("PermissionViolationError")) {
    throw new OffstageError("refused", `NATS at ${where} does not permit that: ${message}`, { cause: error });
  }
  if (names.includes("InvalidArgumentError")) {
    throw new OffstageError(
      "spawn-failed",
      `Cannot start: command and environment are larger than NATS at ${where} passes on (max_payload)`,
      { cause: error },
    );
  }
  return "late"; // cut meanwhile, or no answer
}
