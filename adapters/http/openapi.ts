/**
 * `GET /openapi.json`: what the API is, made from what checks its parameters.
 *
 * @module
 */
import type { Offstage } from "../../mod.ts";
import { VERSION } from "../version.ts";
import type { App } from "./caller.ts";
import { ANSWERS } from "./openapi/answers.ts";
import { choice, having, type JsonSchema, named, text } from "./openapi/json_schema.ts";
import { type Route, ROUTES, type ToolPart } from "./openapi/routes.ts";
import type { Input } from "./parameters.ts";

/** An OpenAPI document, plain JSON. */
export type OpenApiDocument = Readonly<Record<string, unknown>>;

/** Adds the route, which needs no token: the document is the same for everybody. */
export function openApiRoute(app: App, offstage: Offstage): void {
  let document: OpenApiDocument | undefined;
  app.get("/openapi.json", (c) => c.json(document ??= openApiDocument(offstage)));
}

/** Refusals with their meaning. */
const REFUSALS: Readonly<Record<number, string>> = {
  400: "The body is not JSON, or the upgrade not one to a WebSocket of offstage.v1",
  401: "No valid token",
  403: "Not from here: a host or an origin that is not allowed, or what only the admin may do",
  404: "No such session, or one of another scope",
  409: "This session cannot do that, or not now",
  413: "The body is larger than 2 MiB",
  415: "The body is not said to be JSON",
  422: "Parameters that cannot be taken; problems tells all of them",
  429: "Too many failed logins; Retry-After tells how long to wait, s",
  500: "A fault of the server",
  503: "The server is about to end, or what it asks cannot be reached",
};

/** The document of an instance: its parameters are those that have an effect there. */
export function openApiDocument(offstage: Offstage): OpenApiDocument {
  const tools = new Map(
    offstage.admin.tools({ allParameters: true, events: true }).map(({ name, inputSchema }) => [
      name,
      inputSchema["~standard"].jsonSchema.input({ target: "draft-2020-12" }),
    ]),
  );
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of ROUTES) {
    paths[route.path] = { ...paths[route.path], [route.method]: operation(route, tools) };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Offstage",
      version: VERSION,
      description:
        "Runs shell commands for agents. A bearer token names the scope: a token sees its scope's sessions only.",
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: "/" }],
    security: [{ token: [] }],
    paths,
    components: {
      securitySchemes: { token: { type: "http", scheme: "bearer" } },
      parameters: {
        SessionId: { name: "id", in: "path", required: true, schema: text("The session") },
        LeaseId: { name: "id", in: "path", required: true, schema: text("The requestId of the lease") },
        Scope: {
          name: "Offstage-Scope",
          in: "header",
          schema: text("With the admin's token: the scope to act in"),
        },
      },
      schemas: { ...ANSWERS, ExecParams: tools.get("exec"), ProcessParams: tools.get("process") },
    },
  };
}

function operation(route: Route, tools: Tools): JsonSchema {
  const { id, summary, description, query, body, who, socket } = route;
  return {
    operationId: id,
    summary,
    ...(description !== undefined && { description }),
    ...(who === "anybody" && { security: [] }),
    ...(socket && { security: [{ token: [] }, {}] }),
    parameters: [
      ...(route.path.startsWith("/v1/sessions/{id}") ? [{ $ref: "#/components/parameters/SessionId" }] : []),
      ...(route.path.startsWith("/v1/suspend/{id}") ? [{ $ref: "#/components/parameters/LeaseId" }] : []),
      ...(who === undefined ? [{ $ref: "#/components/parameters/Scope" }] : []),
      ...(query === undefined ? [] : queryParameters(query, tools)),
      ...(Array.isArray(route.answer)
        ? [{ name: "Last-Event-ID", in: "header", schema: text("The id of the last event that was seen") }]
        : []),
    ],
    ...(body !== undefined && {
      requestBody: { required: true, content: { "application/json": { schema: bodySchema(body, tools) } } },
    }),
    responses: { ...success(route), ...refusals(route) },
  };
}

type Tools = ReadonlyMap<string, Record<string, unknown>>;

interface ObjectSchema {
  readonly properties: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
}

function partOf(part: ToolPart, tools: Tools): ObjectSchema {
  const { properties, required = [] } = tools.get(part.tool) as unknown as ObjectSchema;
  const { keys = Object.keys(properties) } = part;
  const kept = Object.entries(properties).filter(([name]) => keys.includes(name));
  return { properties: Object.fromEntries(kept), required: required.filter((name) => keys.includes(name)) };
}

function queryParameters(query: Input<unknown> | ToolPart, tools: Tools): readonly JsonSchema[] {
  const { properties, required = [] } = "tool" in query ? partOf(query, tools) : query.schema;
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: "query",
    required: required.includes(name),
    schema,
  }));
}

function bodySchema(body: Input<unknown> | ToolPart, tools: Tools): JsonSchema {
  if (!("tool" in body)) return body.schema;
  if (body.keys === undefined) return named(body.tool === "exec" ? "ExecParams" : "ProcessParams");
  return { type: "object", ...partOf(body, tools), additionalProperties: false };
}

function success({ answer, socket }: Route): JsonSchema {
  if (socket) return { 101: { description: "It is a WebSocket now" } };
  if (typeof answer === "string") {
    return { 200: { description: "Done", content: { "application/json": { schema: named(answer) } } } };
  }
  if ("media" in answer) return { 200: { description: "Done", content: { [answer.media]: {} } } };
  const events = answer.map((name) => name.replace("Event", "").toLowerCase());
  const schema = having(
    { event: choice(events), id: text(), data: { anyOf: answer.map(named) } },
    "Each of its events",
  );
  return { 200: { description: "Server-sent events", content: { "text/event-stream": { schema } } } };
}

function refusals({ path, who, method, socket, refusals = [] }: Route): JsonSchema {
  const statuses = [
    403,
    ...(who === "anybody" ? [] : [401, 422, 429, 503]), // 422: keys that are not known are refused everywhere
    ...(path.includes("/sessions/{id}") && !socket ? [404] : []),
    ...(method === "get" ? [] : [400, 413, 415]),
    500,
    ...refusals,
  ];
  const content = { "application/json": { schema: named("Error") } };
  return Object.fromEntries(
    [...new Set(statuses)].map((status) => [status, { description: REFUSALS[status], content }]),
  );
}
