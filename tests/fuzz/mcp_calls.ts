/**
 * Calls over MCP: the same answers, and envelopes that are none.
 *
 * @module
 */
import { assert } from "@std/assert";
import fc from "fast-check";
import { createMcpServer } from "../../adapters/mcp.ts";
import { bytesOf, type Call, damaged, inputOf, type JsonCall, jsonExecCalls, jsonProcessCalls } from "./calls.ts";
import { type AnyAnswer, idsOf, judged } from "./parameters.ts";
import { type OpenPart, type Part, target } from "./target.ts";
import { execVerdict, processVerdict, type Verdict } from "./verdict.ts";
import { openWorld } from "./world.ts";

/** The part. */
export const mcp: Part = { name: "mcp", runs: 5_000, open };

const ENVELOPE = {
  jsonrpc: "2.0",
  id: 1,
  method: "tools/call",
  params: { name: "exec", arguments: { command: "make" } },
};
const KEYS = ["jsonrpc", "id", "method", "params", "__proto__", "result", "error"];
const METHODS = [
  "tools/list",
  "initialize",
  "resources/read",
  "ping",
  "subscriptions/listen",
  "notifications/cancelled",
  "nope",
];

/** Envelopes of which something else was made. */
const envelopes: fc.Arbitrary<JsonCall> = damaged(
  fc.tuple(jsonProcessCalls, fc.constantFrom(...KEYS), fc.option(fc.constantFrom(...METHODS))).map((
    [call, key, method],
  ) => ({
    call: ENVELOPE,
    changes: [
      ...call.changes.map((change) => "set" in change ? { ...change, set: key } : change),
      ...(method === null ? [] : [{ set: "method", value: method }]),
    ],
  })),
);

async function open(): Promise<OpenPart> {
  const world = await openWorld();
  const server = createMcpServer(world.agent);
  const send = async (body: Uint8Array<ArrayBuffer> | string): Promise<readonly Message[]> => {
    const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
    const response = await server.fetch(new Request("http://localhost/mcp", { method: "POST", headers, body }));
    assert(response.status < 500, `${response.status} ${await response.clone().text()}`);
    const isStream = response.headers.get("content-type")?.includes("event-stream");
    const text = isStream ? await firstOf(response) : await response.text();
    if (text === "") return [];
    if (!isStream) return [JSON.parse(text)].flat();
    return text.split("\n").filter((line) => line.startsWith("data: {")).map((line) => JSON.parse(line.slice(6)));
  };
  const tool = (name: string, verdictOf: (input: unknown) => Verdict) => async (call: Call) => {
    await world.ready();
    const input = inputOf(call, idsOf(world));
    const isObject = typeof input === "object" && input !== null && !Array.isArray(input);
    const message = { ...ENVELOPE, params: { name, ...(input !== undefined && { arguments: input }) } };
    const body = JSON.stringify(message);
    const isKept = input !== undefined && !body.includes('"__proto__"'); // the protocol's package leaves that out
    const verdict = !isKept ? "unclear" : isObject ? verdictOf(JSON.parse(body).params.arguments) : "invalid";
    await judged(world, verdict, async () => answerOf(await send(body)));
  };
  return {
    targets: [
      target("exec", 4, jsonExecCalls, tool("exec", execVerdict)),
      target("process", 4, jsonProcessCalls, tool("process", processVerdict)),
      target("envelopes", 2, envelopes, async ({ damage, ...call }) => {
        await world.ready();
        await send(bytesOf(inputOf(call, {}), damage));
      }),
    ],
    [Symbol.asyncDispose]: async () => {
      await server.close();
      await world.offstage.close();
    },
  };
}

interface Message {
  readonly result?: {
    readonly content: readonly { readonly text: string }[];
    readonly structuredContent: object;
    readonly isError?: boolean;
  };
  readonly error?: { readonly message: string };
}

/** A stream of changes has no end: what it begins with is enough. */
async function firstOf(response: Response): Promise<string> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (let part = await reader?.read(); part?.done === false; part = await reader?.read()) {
    text += part.value;
    if (/^data: .*\n\n/m.test(text) && !text.includes('"notifications/progress"')) break;
  }
  await reader?.cancel();
  return text;
}

/** A refusal of the protocol's own is that of an invalid call. */
function answerOf(messages: readonly Message[]): AnyAnswer {
  const [message] = messages;
  assert(message !== undefined, "no answer");
  const { result, error } = message;
  if (error !== undefined) {
    const problems = [{ key: "", message: error.message }];
    return {
      text: error.message,
      isError: true,
      details: { status: "failed", reason: "invalid", message: "", problems },
    };
  }
  assert(result !== undefined);
  return { text: result.content[0]?.text ?? "", details: result.structuredContent, isError: result.isError === true };
}
