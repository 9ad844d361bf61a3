/**
 * What every request has to get past before anything is done for it, and the headers that every answer has.
 *
 * @module
 */
import type { MiddlewareHandler } from "hono";
import { bodyLimit } from "hono/body-limit";
import { cors } from "hono/cors";
import type { AppContext, AppEnv } from "./caller.ts";
import { clientGone, HttpError } from "./errors.ts";

/** What MCP clients in a page send. */
const MCP_HEADERS = ["mcp-session-id", "mcp-protocol-version", "mcp-method", "mcp-name"];

type Guard = MiddlewareHandler<AppEnv>;

/** Largest body of a request, bytes: twice the longest command. */
export const MAX_BODY_BYTES: number = 2 * 2 ** 20;

/** What a page of ours may load: its own files, nothing inline, nothing of others. A route may answer with another one. */
export const CONTENT_SECURITY_POLICY: string = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

const ANSWER_HEADERS: readonly (readonly [name: string, value: string])[] = [
  ["content-security-policy", CONTENT_SECURITY_POLICY],
  ["x-content-type-options", "nosniff"],
  ["x-frame-options", "DENY"],
  ["referrer-policy", "no-referrer"],
  ["cross-origin-opener-policy", "same-origin"],
  ["cross-origin-resource-policy", "same-origin"],
  ["cache-control", "no-store"],
];

/** Gives every answer the headers that keep browsers strict, unless its route has set them itself. */
export const secureHeaders: Guard = async (c, next) => {
  // Asked before: Deno lets nobody look at a request that has been upgraded
  const isUpgrade = c.req.header("upgrade")?.toLowerCase() === "websocket";
  await next();
  if (isUpgrade) return; // that answer is the runtime's
  const { headers } = c.res;
  for (const [name, value] of ANSWER_HEADERS) if (!headers.has(name)) headers.set(name, value);
};

/** An answer without a body needs no stream: what a HEAD began is ended. */
export const noBodyForHead: Guard = async (c, next) => {
  await next();
  if (c.req.method === "HEAD") await c.res.body?.cancel();
};

/** Names of this machine for itself, which no name server can turn to another. The port is not looked at: tunnels change it. */
const LOOPBACK = /^(?:localhost|[a-z0-9-]+\.localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])$/;

/**
 * Refuses requests for hosts that are not ours: a page whose name points to this machine's address (DNS rebinding) would
 * be of the same origin for its browser.
 *
 * @param allowed names or addresses beside those of the loopback, without a port
 */
export function checkHost(allowed: readonly string[]): Guard {
  const names = new Set(allowed.map((name) => name.toLowerCase()));
  return async (c, next) => {
    const name = hostOf(c).replace(/:\d*$/, "");
    if (!LOOPBACK.test(name) && !names.has(name)) {
      throw new HttpError(
        403,
        "forbidden-host",
        "This host is not served here",
        "Allow it: --allow-host, allowedHosts",
      );
    }
    await next();
  };
}

/**
 * Refuses requests that a browser sends for a page of another origin, WebSockets too, unless that is listed; then the
 * answer may be read there.
 *
 * @param allowed origins such as `https://app.example`
 */
export function checkOrigin(allowed: readonly string[]): Guard {
  const listed = new Set(allowed.map((origin) => origin.toLowerCase()));
  const share = cors({
    origin: (origin) => origin,
    allowMethods: ["GET", "HEAD", "POST", "DELETE"],
    allowHeaders: ["authorization", "content-type", "last-event-id", "offstage-scope", ...MCP_HEADERS],
    exposeHeaders: ["retry-after", "www-authenticate", "mcp-session-id"],
    maxAge: 600,
  });
  return async (c, next) => {
    const origin = c.req.header("origin");
    if (origin === undefined) return await next();
    if (listed.has(origin.toLowerCase())) {
      c.header("cross-origin-resource-policy", "cross-origin");
      return await share(c, next);
    }
    if (hostOfOrigin(origin) !== hostOf(c)) {
      throw new HttpError(403, "forbidden-origin", "Pages of that origin are not served", "Allow it: --allow-origin");
    }
    await next();
  };
}

/** Host and port that a request is for, in small letters; nothing if it does not say. */
function hostOf(c: AppContext): string {
  const { url } = c.req; // on Bun no whole one if HTTP/1.0 leaves the host out
  return (c.req.header("host") ?? (URL.canParse(url) ? new URL(url).host : "")).toLowerCase();
}

/** Host and port of an origin; `undefined` for `null`, which is nobody's. */
function hostOfOrigin(origin: string): string | undefined {
  return /^https?:\/\/([^/]+)$/i.exec(origin)?.[1]?.toLowerCase();
}

/**
 * Refuses bodies that are not said to be JSON: those a page of another origin can post without being asked about it. And
 * compressed ones: nothing here would unpack them.
 */
export const jsonOnly: Guard = async (c, next) => {
  const { method } = c.req;
  const type = c.req.header("content-type") ?? (hasBody(c) ? "none" : undefined);
  const isRead = method === "GET" || method === "HEAD";
  const isPlain = /^(?:identity)?$/i.test(c.req.header("content-encoding") ?? "");
  if (!isRead && (!isPlain || (type !== undefined && !/^application\/json\s*(?:;|$)/i.test(type)))) {
    const hint = "Send content-type: application/json, not compressed";
    throw new HttpError(415, "unsupported-media-type", "Only JSON is read", hint);
  }
  await next();
};

function hasBody(c: AppContext): boolean {
  return c.req.header("transfer-encoding") !== undefined || !/^0*$/.test(c.req.header("content-length") ?? "");
}

function tooLarge(): never {
  const limit = `${MAX_BODY_BYTES} bytes`;
  throw new HttpError(413, "too-large", `The body is larger than ${limit}`, "Write large input to a session in pieces");
}

const countBody = bodyLimit({ maxSize: MAX_BODY_BYTES, onError: tooLarge });

/** What goes wrong in there is the reading: what comes after has its errors handled by itself. */
const counted: Guard = async (c, next) => {
  try {
    return await countBody(c, next);
  } catch (error) {
    throw error instanceof HttpError ? error : clientGone();
  }
};

/** Refuses bodies that are too large: at once if they say so, else as soon as they are. */
export const limitBody: Guard = async (c, next) => {
  const length = c.req.header("content-length");
  // Where its length is given it is not touched: to read it through a stream takes longer
  if (length === undefined || c.req.header("transfer-encoding") !== undefined) return await counted(c, next);
  if (Number(length) > MAX_BODY_BYTES) tooLarge();
  await next();
};
