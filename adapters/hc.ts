/**
 * The type of the HTTP app for Hono's own client: `hc<AppType>(url)`.
 *
 * Types only. `offstage/client` needs no Hono, reconnects and knows the streams; this is for those who use `hc` anyway.
 *
 * @module
 */
import type { Hono } from "hono";
import type {
  ExecAnswer,
  ExecParams,
  FailureDetails,
  KillDetails,
  ListEntry,
  LogDetails,
  NodeInfo,
  ProcessDetails,
  ProcessParams,
  ResizeDetails,
  ScreenDetails,
  SessionEnd,
  StatusDetails,
  SuspendAnswer,
  ToolAnswer,
  WriteDetails,
} from "../mod.ts";
import type { Activity } from "./client.ts";

/** One method of one route; no interface, because Hono wants an index signature. */
export type Endpoint<Input, Output, Format extends string = "json"> = {
  /** Where the parameters go: `json`, `query`, `param`. */
  readonly input: Input;
  /** What a success answers. */
  readonly output: Output;
  /** `json`, or `text` for a stream. */
  readonly outputFormat: Format;
  /** A success. */
  readonly status: 200;
};

/** Parameters as a query has them. */
export type Query<Keys extends string> = { readonly [Key in Keys]?: string };

/** The path of a session's routes. */
export interface OfSession {
  /** Its id. */
  readonly param: { readonly id: string };
}

/** A body with some parameters of an action of `process`. */
export interface Body<Keys extends keyof ProcessParams> {
  /** The parameters. */
  readonly json: Pick<ProcessParams, Keys>;
}

/** An action's answer. */
export type Answer<Details> = ToolAnswer<Details | FailureDetails>;

/** Every route with its methods. */
export type Routes = {
  /** Runs a command. */
  "/v1/exec": {
    $post: Endpoint<{ json: ExecParams; query?: Query<"abortOnDisconnect"> }, ExecAnswer>;
  };
  /** Works with the scope's sessions. */
  "/v1/process": { $post: Endpoint<{ json: ProcessParams }, Answer<ProcessDetails[keyof ProcessDetails]>> };
  /** All sessions of the scope. */
  "/v1/sessions": {
    $get: Endpoint<object, { sessions: readonly ListEntry[] }>;
    $delete: Endpoint<object, { ended: readonly SessionEnd[] }>;
  };
  /** One session. */
  "/v1/sessions/:id": {
    $get: Endpoint<OfSession, ListEntry>;
    $delete: Endpoint<OfSession, Answer<StatusDetails>>;
  };
  /** Lines of its output. */
  "/v1/sessions/:id/log": {
    $get: Endpoint<
      OfSession & { query?: Query<"offset" | "limit" | "stream" | "grep" | "raw" | "bytes" | "since"> },
      LogDetails
    >;
  };
  /** Its terminal as a person sees it. */
  "/v1/sessions/:id/screen": {
    $get: Endpoint<OfSession & { query?: Query<"since" | "scrollback" | "until" | "timeout"> }, ScreenDetails>;
  };
  /** Its output as it comes: server-sent events. */
  "/v1/sessions/:id/output": {
    $get: Endpoint<OfSession & { query?: Query<"since" | "follow" | "encoding"> }, string, "text">;
  };
  /** Types text or bytes. */
  "/v1/sessions/:id/write": {
    $post: Endpoint<OfSession & Body<"data" | "base64" | "eof" | "sensitive">, Answer<WriteDetails>>;
  };
  /** Presses keys. */
  "/v1/sessions/:id/keys": {
    $post: Endpoint<OfSession & Body<"keys" | "literal" | "hex" | "delayMs" | "sensitive">, Answer<WriteDetails>>;
  };
  /** Presses Enter. */
  "/v1/sessions/:id/submit": { $post: Endpoint<OfSession, Answer<WriteDetails>> };
  /** Pastes text. */
  "/v1/sessions/:id/paste": {
    $post: Endpoint<OfSession & Body<"text" | "bracketed" | "sensitive">, Answer<WriteDetails>>;
  };
  /** Gives its terminal another size. */
  "/v1/sessions/:id/resize": { $post: Endpoint<OfSession & Body<"cols" | "rows">, Answer<ResizeDetails>> };
  /** Ends it. */
  "/v1/sessions/:id/kill": { $post: Endpoint<OfSession & Body<"signal" | "wait">, Answer<KillDetails>> };
  /** Forgets it, once it has ended. */
  "/v1/sessions/:id/clear": { $post: Endpoint<OfSession, Answer<StatusDetails>> };
  /** What happens in the background: server-sent events. */
  "/v1/events": { $get: Endpoint<object, string, "text"> };
  /** Takes events out of the list of those that are still to be told. */
  "/v1/events/ack": { $post: Endpoint<{ json: { ids: readonly string[] } }, { acked: number }> };
  /** The nodes that the scope's commands can run on. */
  "/v1/nodes": { $get: Endpoint<object, { nodes: readonly NodeInfo[] }> };
  /** What keeps the host from being suspended. */
  "/v1/activity": { $get: Endpoint<object, Activity> };
  /** Asks whether it may be suspended. */
  "/v1/suspend": { $post: Endpoint<{ json: { requestId: string } }, SuspendAnswer> };
  /** Gives a lease back. */
  "/v1/suspend/:id": { $delete: Endpoint<{ param: { id: string } }, { resumed: boolean }> };
};

/**
 * The app, for `hc` of `hono/client`.
 *
 * @example
 * ```ts
 * import { hc } from "hono/client";
 * import type { AppType } from "offstage/hc";
 *
 * async function run(url: string, token: string): Promise<string> {
 *   const client = hc<AppType>(url, { headers: { authorization: `Bearer ${token}` } });
 *   const answer = await client.v1.exec.$post({ json: { command: "echo hi" } });
 *   return (await answer.json()).text;
 * }
 * ```
 */
export type AppType = Hono<Record<never, never>, Routes, "/">;
