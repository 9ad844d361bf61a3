/**
 * `GET /v1/sessions/:id/attach`: a session's terminal, or its pipes, on a WebSocket.
 *
 * @module
 */
import type { WSEvents } from "hono/ws";
import * as v from "valibot";
import type { SessionView } from "../../mod.ts";
import { showOn } from "./attached.ts";
import type { App, AppContext, Caller } from "./caller.ts";
import { HttpError } from "./errors.ts";
import { checked, queryOf } from "./input.ts";
import { bearerToken, type Logins } from "./logins.ts";
import { ATTACH_QUERY } from "./parameters.ts";
import type { Service } from "./service.ts";
import { ROOM_BYTES, type Socket, socketOf } from "./socket.ts";
import type { Streams } from "./streams.ts";
import { createTypist, type Typist } from "./typist.ts";

/** The subprotocol that a client has to offer, as its first or only one. */
const PROTOCOL = "offstage.v1";

/** A connection that has not said whose it is by then is closed, ms. */
const LOGIN_MS = 10_000;

/** Largest message of a client, bytes: as much as a session takes at once. */
const MAX_MESSAGE_BYTES = 1_048_576;

const offset = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
const cells = v.pipe(v.number(), v.safeInteger(), v.minValue(1), v.maxValue(1_000));

/** The first message of a client that could not send a header. */
const login = v.strictObject({
  type: v.literal("auth"),
  token: v.string(),
  since: v.optional(offset),
  cols: v.optional(cells),
  rows: v.optional(cells),
  readonly: v.optional(v.boolean()),
});

const resize = v.strictObject({ type: v.literal("resize"), cols: cells, rows: cells });

type Login = Partial<v.InferOutput<typeof login>>;

/** Adds the route. It comes before the check of tokens: a browser cannot send one with its request. */
export function attachRoutes(app: App, { upgrade, logins }: Service, streams: Streams): void {
  if (upgrade === undefined) return;
  app.get(
    "/v1/sessions/:id/attach",
    async (c, next) => {
      const [offered] = (c.req.header("sec-websocket-protocol") ?? "").split(",");
      if (!isHandshake(c) || offered?.trim() !== PROTOCOL) {
        throw new HttpError(400, "bad-upgrade", "Only WebSockets attach", `Connect with the subprotocol ${PROTOCOL}`);
      }
      await next();
    },
    upgrade((c) => eventsOf(c as AppContext, streams, logins)),
  );
}

/** Whether the runtime can upgrade it: one that lacks something is an error of the runtime's on some of them. */
function isHandshake({ req }: AppContext): boolean {
  return req.method === "GET" && req.header("upgrade")?.toLowerCase() === "websocket" &&
    /(?:^|,)\s*upgrade\s*(?:,|$)/i.test(req.header("connection") ?? "") &&
    req.header("sec-websocket-version") === "13" && /^[\w+/]{22}==$/.test(req.header("sec-websocket-key") ?? "");
}

/** What becomes of one connection; refuses it here if its headers have a wrong token. */
function eventsOf(c: AppContext, streams: Streams, logins: Logins): WSEvents {
  const { readonly } = checked(ATTACH_QUERY.check, queryOf(c));
  const token = bearerToken(c);
  const callerOf = logins.later(c); // Deno lets nobody look at a request that has been upgraded
  const known = token === undefined ? undefined : callerOf(token);
  const sessionId = c.req.param("id") ?? "";
  let take: ((message: string | Uint8Array) => void) | undefined;
  let end = (): void => {};

  function begin(socket: Socket, caller: Caller, wish: Login): void {
    const view = caller.agent.session(sessionId);
    if (view === undefined) return socket.close(4404, "unknown session");
    const isReadonly = readonly || wish.readonly === true;
    const hands = isReadonly ? onlyEyes(socket) : handsOn(socket, view, caller);
    if (!isReadonly && wish.cols !== undefined && wish.rows !== undefined) hands.resize(wish.cols, wish.rows);
    take = (message) => {
      if (message instanceof Uint8Array) return hands.type(message);
      const control = v.safeParse(resize, jsonOf(message));
      if (control.success) hands.resize(control.output.cols, control.output.rows);
      else complain(socket, "bad-message", 'Send bytes, or { "type": "resize", "cols": 1…1000, "rows": 1…1000 }');
    };
    end = showOn(socket, view, streams, { since: wish.since ?? 0, readonly: isReadonly });
  }

  function logIn(socket: Socket, message: string | Uint8Array): void {
    const wish = v.safeParse(login, typeof message === "string" ? jsonOf(message) : undefined);
    take = undefined; // there is one try
    if (!wish.success) return refuse(socket, "the first message is not the login");
    end();
    try {
      begin(socket, callerOf(wish.output.token), wish.output);
    } catch (error) {
      const isRefusal = error instanceof HttpError;
      socket.close(isRefusal ? 4000 + error.status : 1011, isRefusal ? error.message : "something went wrong here");
    }
  }

  return {
    onOpen: (_, context) => {
      const socket = socketOf(context);
      if (known !== undefined) return begin(socket, known, {});
      take = (message) => logIn(socket, message);
      const late = setTimeout(() => refuse(socket, "no login in time"), LOGIN_MS);
      end = () => clearTimeout(late);
    },
    onMessage: ({ data }, context) => {
      if (data instanceof Blob) return; // no runtime of ours is set to give one
      const message = typeof data === "string" ? data : new Uint8Array(data as ArrayBuffer);
      if (message.length > MAX_MESSAGE_BYTES) return context.close(1009, "the message is too large");
      take?.(message);
    },
    onClose: () => end(),
    onError: () => end(),
  };
}

/** What a viewer can do with a session. */
interface Hands extends Typist {
  resize(cols: number, rows: number): void;
}

function handsOn(socket: Socket, { sessionId, pty }: SessionView, { agent }: Caller): Hands {
  return {
    ...createTypist(agent, sessionId, (why) => complain(socket, "not-typed", why)),
    resize: async (cols, rows) => {
      if (!pty) return complain(socket, "no-terminal", "This session has no terminal to resize");
      await agent.process({ action: "resize", sessionId, cols, rows });
    },
  };
}

function onlyEyes(socket: Socket): Hands {
  const refuse = (): void => complain(socket, "readonly", "You only look at this session");
  return { type: refuse, resize: refuse };
}

/** Says what could not be done; not to a client that does not read what it is told. */
function complain(socket: Socket, code: string, message: string): void {
  if (socket.unsent() <= ROOM_BYTES) socket.send({ type: "error", code, message });
}

function refuse(socket: Socket, why: string): void {
  socket.close(4401, why);
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
