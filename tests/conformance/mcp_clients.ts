/**
 * The real MCP clients, new and old, over both transports, each against a server on the runtime the test runs on.
 *
 * @module
 */
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { Client as OldClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as OldStdioTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as OldHttpTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport as OldTransport } from "@modelcontextprotocol/sdk/shared/transport.js";
import {
  ResourceListChangedNotificationSchema,
  ResourceUpdatedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { runtimeName } from "../skip.ts";
import { type Served, serveHttp, TOKENS } from "./http_server.ts";

/** What a tool has answered. */
export interface Answer {
  /** What the model is shown. */
  readonly text: string;
  /** The structured content. */
  readonly details: Readonly<Record<string, unknown>>;
  readonly isError: boolean;
}

/** A notification of progress. */
export interface Progress {
  readonly progress: number;
  readonly message?: string | undefined;
}

/** What a call may bring. */
export interface CallOptions {
  readonly signal?: AbortSignal;
  readonly onprogress?: (progress: Progress) => void;
}

/** A connected client, whichever it is. Every answer it hands on has agreed with the tool's output schema. */
export interface TestClient extends AsyncDisposable {
  readonly name: string;
  /** The server's tools, as they are listed. */
  readonly tools: readonly { readonly name: string; readonly annotations?: unknown; readonly inputSchema: object }[];
  readonly instructions: string | undefined;
  readonly serverVersion: string | undefined;
  call(name: string, args: Readonly<Record<string, unknown>>, options?: CallOptions): Promise<Answer>;
  /** Calls `exec` for a command that is to go on in the background; gives its session's id. */
  background(args: Readonly<Record<string, unknown>>): Promise<string>;
  resources(): Promise<readonly { readonly uri: string; readonly description?: string | undefined }[]>;
  templates(): Promise<readonly string[]>;
  read(uri: string): Promise<string>;
  /** Asks for updates of one log; what comes is in `updates`. */
  subscribe(uri: string): Promise<void>;
  /** Addresses of the logs that have been updated, in the order in which that was told. */
  readonly updates: readonly string[];
  /** How often it was told that the list of resources has changed. */
  listChanges(): number;
  close(): Promise<void>;
}

/** A way to be a client. */
export interface ClientKind {
  readonly name: string;
  readonly transport: "stdio" | "http";
  /** Connects to a server of its own; `flags` are those of `offstage mcp`, with no effect over HTTP. */
  connect(flags?: readonly string[]): Promise<TestClient>;
}

/** The command line on this runtime, as a program and its arguments. */
export function commandLine(...words: readonly string[]): readonly [string, ...string[]] {
  const extension = import.meta.url.endsWith(".js") ? "js" : "ts";
  const main = fileURLToPath(new URL(`../../adapters/cli/main.${extension}`, import.meta.url));
  return [process.execPath, ...(runtimeName === "deno" ? ["run", "-A", "--no-check"] : []), main, ...words];
}

/** Every client over every transport. */
export const CLIENTS: readonly ClientKind[] = [
  {
    name: "new client, stdio",
    transport: "stdio",
    connect: (flags = []) => newClient("new client, stdio", stdio(flags)),
  },
  {
    name: "old client, stdio",
    transport: "stdio",
    connect: (flags = []) => oldClient("old client, stdio", oldStdio(flags)),
  },
  { name: "new client, HTTP", transport: "http", connect: () => overHttp((served) => connectNew(served)) },
  { name: "old client, HTTP", transport: "http", connect: () => overHttp((served) => connectOld(served)) },
];

/** Connects the new client to a server that is there already. */
export function connectNew({ url }: Pick<Served, "url">, token: string = TOKENS.one): Promise<TestClient> {
  return newClient("new client, HTTP", new StreamableHTTPClientTransport(new URL(`${url}/mcp`), withToken(token)));
}

/** Connects the old client to a server that is there already. */
export function connectOld({ url }: Pick<Served, "url">, token: string = TOKENS.one): Promise<TestClient> {
  const transport = new OldHttpTransport(new URL(`${url}/mcp`), withToken(token));
  return oldClient("old client, HTTP", transport as OldTransport);
}

function withToken(token: string): { requestInit: RequestInit; fetch: typeof fetch } {
  return {
    requestInit: { headers: { authorization: `Bearer ${token}` } },
    fetch: runtimeName === "deno" ? fetchUntilAborted : fetch,
  };
}

const remembered: AbortSignal[] = [];

/** Once it has collected its garbage, Deno's own `fetch` does not end a body any more when its signal fires. */
const fetchUntilAborted: typeof fetch = async (input, init) => {
  const response = await fetch(input, init);
  if (!init?.signal || response.body === null) return response;
  remembered.push(init.signal);
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  response.body.pipeTo(writable, { signal: init.signal }).catch(() => {});
  return new Response(readable, response);
};

async function overHttp(connect: (served: Served) => Promise<TestClient>): Promise<TestClient> {
  const served = await serveHttp();
  const client = await connect(served);
  const close = async (): Promise<void> => {
    await client.close();
    await served.close();
  };
  return { ...client, close, [Symbol.asyncDispose]: close };
}

function stdio(flags: readonly string[]): StdioClientTransport {
  const [command, ...args] = commandLine("mcp", ...flags);
  return new StdioClientTransport({ command, args, stderr: "inherit" });
}

function oldStdio(flags: readonly string[]): OldTransport {
  const [command, ...args] = commandLine("mcp", ...flags);
  return new OldStdioTransport({ command, args, stderr: "inherit" });
}

const SELF = { name: "tester", version: "1.0.0" };

/** Longest time a client waits for an answer, ms: a loaded machine is no fault. */
const PATIENCE = { timeout: 60_000 };

async function newClient(
  name: string,
  transport: StdioClientTransport | StreamableHTTPClientTransport,
): Promise<TestClient> {
  const updates: string[] = [];
  let listChanges = 0;
  const client = new Client(SELF, { versionNegotiation: { mode: "auto" } });
  client.setNotificationHandler("notifications/resources/updated", ({ params: { uri } }) => void updates.push(uri));
  client.setNotificationHandler("notifications/resources/list_changed", () => void (listChanges += 1));
  await client.connect(transport);
  await client.listen({ resourcesListChanged: true });
  const { tools } = await client.listTools();
  return testClient({
    name,
    tools,
    instructions: client.getInstructions(),
    serverVersion: client.getServerVersion()?.version,
    callTool: (params, options) => client.callTool(params, { ...PATIENCE, ...options }),
    resources: async () => (await client.listResources()).resources,
    templates: async () =>
      (await client.listResourceTemplates()).resourceTemplates.map(({ uriTemplate }) => uriTemplate),
    readResource: (uri) => client.readResource({ uri }),
    subscribe: async (uri) => void await client.listen({ resourceSubscriptions: [uri] }),
    updates,
    listChanges: () => listChanges,
    close: () => client.close(),
  });
}

async function oldClient(name: string, transport: OldTransport): Promise<TestClient> {
  const updates: string[] = [];
  let listChanges = 0;
  const client = new OldClient(SELF);
  client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params: { uri } }) => void updates.push(uri));
  client.setNotificationHandler(ResourceListChangedNotificationSchema, () => void (listChanges += 1));
  await client.connect(transport);
  const { tools } = await client.listTools();
  return testClient({
    name,
    tools,
    instructions: client.getInstructions(),
    serverVersion: client.getServerVersion()?.version,
    callTool: (params, options) => client.callTool(params, undefined, { ...PATIENCE, ...options }),
    resources: async () => (await client.listResources()).resources,
    templates: async () =>
      (await client.listResourceTemplates()).resourceTemplates.map(({ uriTemplate }) => uriTemplate),
    readResource: (uri) => client.readResource({ uri }),
    subscribe: async (uri) => void await client.subscribeResource({ uri }),
    updates,
    listChanges: () => listChanges,
    close: () => client.close(),
  });
}

/** What the two clients have in common. */
interface Connected
  extends Pick<TestClient, "name" | "tools" | "instructions" | "serverVersion" | "updates" | "listChanges"> {
  callTool(params: { name: string; arguments: Record<string, unknown> }, options: CallOptions): Promise<unknown>;
  resources: TestClient["resources"];
  templates: TestClient["templates"];
  readResource(uri: string): Promise<unknown>;
  subscribe: TestClient["subscribe"];
  close: TestClient["close"];
}

function testClient({ callTool, readResource, ...rest }: Connected): TestClient {
  const call: TestClient["call"] = async (name, args, options = {}) => {
    const { content, structuredContent, isError } = await callTool({ name, arguments: { ...args } }, options) as {
      readonly content: readonly { readonly text?: string }[];
      readonly structuredContent?: Readonly<Record<string, unknown>>;
      readonly isError?: boolean;
    };
    return {
      text: content.map(({ text }) => text ?? "").join("\n"),
      details: structuredContent ?? {},
      isError: isError === true,
    };
  };
  return {
    ...rest,
    call,
    background: async (args) => {
      const { details, text } = await call("exec", { yieldMs: 300, ...args });
      if (details["status"] !== "running") throw new Error(`Expected "running" but got: ${text}`);
      return String(details["sessionId"]);
    },
    read: async (uri) => {
      const { contents } = await readResource(uri) as { readonly contents: readonly { readonly text?: string }[] };
      return contents.map(({ text }) => text ?? "").join("\n");
    },
    [Symbol.asyncDispose]: rest.close,
  };
}
