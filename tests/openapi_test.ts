/**
 * `/openapi.json` is an OpenAPI document, and tells of the routes there are with the parameters they take.
 *
 * @module
 */
import { assert, assertEquals } from "@std/assert";
import { Validator } from "@seriousme/openapi-schema-validator";
import { createOffstage } from "../adapters/auto.ts";
import { createHttpApp } from "../adapters/http.ts";
import { VERSION } from "../adapters/version.ts";
import { closing, test } from "./closing.ts";
import { readJson, readText } from "./project.ts";

/** The part of a document that is looked at. */
interface Document {
  readonly info: { readonly version: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, ObjectSchema>> };
}

interface Operation {
  readonly operationId: string;
  readonly parameters: readonly { readonly name?: string; readonly in?: string }[];
  readonly requestBody?: { readonly content: { readonly "application/json": { readonly schema: ObjectSchema } } };
  readonly responses: Readonly<Record<string, unknown>>;
}

interface ObjectSchema {
  readonly $ref?: string;
  readonly properties?: Readonly<Record<string, unknown>>;
}

/** What the app of an instance answers. */
async function open(): Promise<
  { app: ReturnType<typeof createHttpApp>; document: Document }
> {
  const offstage = closing(createOffstage());
  const app = createHttpApp(offstage, { tokens: new Map([["t", "*"]]), upgradeWebSocket: () => () => undefined });
  const document = await (await app.fetch(new Request("http://localhost/openapi.json"))).json() as Document;
  return { app, document };
}

test("the document is OpenAPI 3.1, of this version, with one name for each operation", async () => {
  const { document } = await open();
  const validator = new Validator();
  assertEquals(await validator.validate({ ...document }), { valid: true });
  assertEquals([validator.version, document.info.version], ["3.1", VERSION]);
  assertEquals((readJson("package.json") as { readonly version: string }).version, VERSION);
  const ids = Object.values(document.paths).flatMap((path) =>
    Object.values(path).map(({ operationId }) => operationId)
  );
  assertEquals(new Set(ids).size, ids.length);
  validator.resolveRefs(); // throws if one leads nowhere
});

/** Routes that are no API: the page with what belongs to it, and the protocol that has a description of its own. */
const NOT_API = /^(?:ALL |GET \/$|GET \/page\/|\w+ \/mcp$)/;

test("the document tells of every route of the app, and of no other", async () => {
  const { app, document } = await open();
  const { routes } = app as unknown as {
    readonly routes: readonly { readonly method: string; readonly path: string }[];
  };
  const served = routes.map(({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/g, "{$1}")}`);
  const told = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`)
  );
  assertEquals(told.toSorted(), [...new Set(served)].filter((route) => !NOT_API.test(route)).toSorted());
});

test("the README's table of routes names every one of them", async () => {
  const { document } = await open();
  const told = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ":$1")}`)
  );
  const [, rows = ""] = /^\| route +\| what it does +\|\n((?:\|.*\n)+)/m.exec(readText("README.md")) ?? [];
  const documented = [...rows.matchAll(/`([A-Z]+ \/[^`]*)`/g)].flatMap(([, route = ""]) => {
    const [, before = "", words = "", after = ""] = /^(.*)\{(.*)\}(.*)$/.exec(route) ?? [undefined, route];
    return words.split(",").map((word) => before + word + after);
  });
  assertEquals(documented.toSorted(), told.toSorted());
});

test("each route takes the parameters and has the refusals that the document names, and no other parameters", async () => {
  const { app, document } = await open();
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const session = path.includes("/sessions/{id}") ? await startSession(app) : "x";
      const query = operation.parameters.filter((parameter) => parameter.in === "query").map(({ name }) => name ?? "");
      const body = bodyOf(document, operation);
      if ("101" in operation.responses || path === "/v1/process") continue; // an upgrade; each action takes others
      const url = `http://localhost${path.replace("{id}", session)}`;
      const ask = async (keys: readonly string[], json: object): Promise<readonly Problem[]> => {
        const search = new URLSearchParams(keys.map((key) => [key, "\0"]));
        const init = method === "get" ? {} : { body: JSON.stringify(json) };
        const headers = { authorization: "Bearer t", "content-type": "application/json" };
        const response = await app.fetch(
          new Request(`${url}?${search}`, { method: method.toUpperCase(), headers, ...init }),
        );
        assert(String(response.status) in operation.responses, `${method} ${path} answers ${response.status}`);
        const answer = await response.json() as { error?: Refusal; details?: Refusal };
        return answer.error?.problems ?? answer.details?.problems ?? [];
      };
      const where = `${method} ${path}`;
      if (query.length > 0) assertEquals((await ask(query, {})).filter(isUnknown), [], where);
      if (body.length > 0) {
        assertEquals((await ask([], Object.fromEntries(body.map((key) => [key, {}])))).filter(isUnknown), [], where);
      }
      if (!path.startsWith("/v1/")) continue;
      assert((await ask(["unheard"], {})).some(isUnknown), `${where} takes any query`);
      if (body.length > 0) assert((await ask([], { unheard: 1 })).some(isUnknown), `${where} takes any body`);
    }
  }
});

test("R14 the upgrade to a WebSocket takes the query and has the refusals that the document names", async () => {
  const offstage = closing(createOffstage());
  // What a runtime's upgrade does up to the handshake: asks what becomes of the connection
  const upgradeWebSocket = (begin: (c: unknown) => unknown) => (c: unknown): Response => {
    begin(c);
    return new Response("", { status: 299 });
  };
  const app = createHttpApp(offstage, { tokens: new Map([["t", "one"]]), upgradeWebSocket });
  const document = await (await app.fetch(new Request("http://localhost/openapi.json"))).json() as Document;
  const { parameters, responses } = document.paths["/v1/sessions/{id}/attach"]?.["get"] as Operation;
  assertEquals(parameters.filter((parameter) => parameter.in === "query").map(({ name }) => name), ["readonly"]);
  const upgrade = {
    "connection": "Upgrade",
    "upgrade": "websocket",
    "sec-websocket-version": "13",
    "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
    "sec-websocket-protocol": "offstage.v1",
  };
  const ask = async (search: string, headers: Readonly<Record<string, string>>): Promise<number> =>
    (await app.fetch(new Request(`http://localhost/v1/sessions/x/attach?${search}`, { headers }))).status;
  assertEquals(await ask("readonly=true", { ...upgrade, authorization: "Bearer t" }), 299);
  assertEquals(await ask("readonly=true", upgrade), 299, "its token comes later");
  const refused = [
    await ask("", { authorization: "Bearer t" }),
    await ask("", { ...upgrade, authorization: "Bearer wrong" }),
    await ask("", { ...upgrade, origin: "https://evil.example" }),
    await ask("token=t", upgrade),
    await ask("readonly=maybe", upgrade),
  ];
  assertEquals(refused, [400, 401, 403, 422, 422]);
  for (const status of refused) assert(String(status) in responses, `${status} is not named`);
});

test("a parameter that is missing is said to be required", async () => {
  const { app } = await open();
  const headers = { authorization: "Bearer t", "content-type": "application/json" };
  const init = { method: "POST", headers, body: "{}" };
  const problems = async (path: string): Promise<unknown> => {
    const response = await app.fetch(new Request(`http://localhost${path}`, init));
    return (await response.json() as { readonly error: Refusal }).error.problems;
  };
  assertEquals(await problems("/v1/suspend"), [{ key: "requestId", message: "required" }]);
  assertEquals(await problems("/v1/events/ack"), [{ key: "ids", message: "required" }]);
});

interface Problem {
  readonly key: string;
  readonly message: string;
}

interface Refusal {
  readonly problems?: readonly Problem[];
}

function isUnknown({ message }: Problem): boolean {
  return message.startsWith("unknown") || message.startsWith("not used");
}

/** Names of what a body holds. */
function bodyOf(document: Document, { requestBody }: Operation): readonly string[] {
  const schema = requestBody?.content["application/json"].schema;
  const name = schema?.$ref?.split("/").at(-1) ?? "";
  return Object.keys((schema?.properties ?? document.components.schemas[name]?.properties) ?? {});
}

async function startSession(app: ReturnType<typeof createHttpApp>): Promise<string> {
  const headers = { authorization: "Bearer t", "content-type": "application/json" };
  const body = JSON.stringify({ command: "sleep 60", background: true });
  const response = await app.fetch(new Request("http://localhost/v1/exec", { method: "POST", headers, body }));
  const { details } = await response.json() as { readonly details: { readonly sessionId: string } };
  return details.sessionId;
}
