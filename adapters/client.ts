/**
 * The client of a served instance: plain fetch, server-sent events and WebSocket, on every runtime and in browsers.
 *
 * @module
 */
export { createClient } from "./http/client/client.ts";
export type {
  Activity,
  CallOptions,
  Client,
  ClientExecOptions,
  ClientOptions,
  LogQuery,
  MissedEvents,
} from "./http/client/client.ts";
export { ClientError } from "./http/client/error.ts";
export type { ClientErrorInit } from "./http/client/error.ts";
export type { Fetch } from "./http/client/connection.ts";
export type {
  OutputBytes,
  OutputBytesEvent,
  OutputEnd,
  OutputEvent,
  OutputGap,
  OutputOptions,
  OutputText,
} from "./http/client/output.ts";
export type {
  AttachEnd,
  AttachHello,
  Attachment,
  AttachOptions,
  ClientSocket,
  ClientSocketConstructor,
  ClientSocketEvent,
} from "./http/client/attach.ts";
