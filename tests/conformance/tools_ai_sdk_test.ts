/**
 * The tools in the AI SDK itself: its own checks, its own loop, a model that says what it is told to.
 *
 * @module
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { assert, assertEquals, assertMatch, assertRejects, assertStringIncludes } from "@std/assert";
import { executeTool } from "@ai-sdk/provider-utils";
import { asSchema, generateText, isStepCount, type ModelMessage, tool, type ToolSet } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { AbortError, type Agent, type ToolAnswer } from "../../mod.ts";
import { forAISDK } from "../../tools.ts";
import { closing, test } from "../closing.ts";
import { open } from "./agent.ts";

/** What the model does next, given what it has been told. */
type Turn = (told: readonly ModelMessage[]) => { readonly toolName: string; readonly input: object } | string;

/** A model that does one turn after the other. */
function modelOf(turns: readonly Turn[]): MockLanguageModelV4 {
  let next = 0;
  return new MockLanguageModelV4({
    doGenerate: ({ prompt }) => {
      const turn = turns[next++]?.(prompt as readonly ModelMessage[]) ?? "nothing left to do";
      const usage = {
        inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
        outputTokens: { total: 1, text: 1, reasoning: undefined },
      };
      const isText = typeof turn === "string";
      return Promise.resolve({
        content: [
          isText ? { type: "text", text: turn } : {
            type: "tool-call",
            toolCallId: `call-${next}`,
            toolName: turn.toolName,
            input: JSON.stringify(turn.input),
          },
        ],
        finishReason: { unified: isText ? "stop" : "tool-calls", raw: undefined },
        usage,
        warnings: [],
      });
    },
  });
}

/** What the newest message tells the model about its call. */
function newest(told: readonly ModelMessage[]): { readonly type: string; readonly value: string } {
  const content = told.at(-1)?.content;
  const part = Array.isArray(content) ? content[0] : undefined;
  assert(part?.type === "tool-result", JSON.stringify(told.at(-1)));
  return part.output as { readonly type: string; readonly value: string };
}

test("AI SDK: tool() takes each tool as it is, and its checks reject what the tool rejects", async () => {
  const { agent } = closing(open());
  for (const [name, each] of Object.entries(forAISDK(agent.tools({ readOnlyTool: true })))) {
    const { jsonSchema, validate } = asSchema(tool(each).inputSchema);
    assertEquals((await jsonSchema).additionalProperties, false, name);
    assertEquals((await validate?.({ cmd: "ls" }))?.success, false, name);
    const good = name === "exec" ? { command: "ls", timeout: "5" } : { action: "list", sessionId: null };
    assertEquals(
      await validate?.(good),
      { success: true, value: name === "exec" ? { command: "ls", timeout: 5 } : { action: "list" } },
    );
  }
});

test("AI SDK: a model runs a command, types into it and waits for its end", async () => {
  const { agent } = closing(open());
  const tools: ToolSet = forAISDK(agent.tools());
  let sessionId = "";
  const model = modelOf([
    () => ({ toolName: "exec", input: { command: "read name; echo hello $name", yieldMs: 300 } }),
    (told) => {
      const { type, value } = newest(told);
      assertEquals(type, "text");
      sessionId = /session ([a-z]+-[a-z]+-\w+)/.exec(value)?.[1] ?? "";
      return { toolName: "process", input: { action: "write", sessionId, data: "Ada\n" } };
    },
    (told) => {
      assertMatch(newest(told).value, /^Wrote 4 bytes/);
      return { toolName: "process", input: { action: "poll", sessionId, until: "exit", timeout: 30_000 } };
    },
    (told) => newest(told).value,
  ]);
  const { text, steps } = await generateText({ model, tools, prompt: "Greet Ada", stopWhen: isStepCount(9) });
  assertEquals([text, steps.length], ["hello Ada\n[completed: exit code 0]", 4]);
});

test("AI SDK: a call that failed is an error for the model, in the words of the tool", async () => {
  const { agent } = closing(open());
  const said: { readonly type: string; readonly value: string }[] = [];
  const model = modelOf([
    () => ({ toolName: "exec", input: { cmd: "ls" } }),
    (told) => {
      said.push(newest(told));
      return { toolName: "process", input: { action: "poll", sessionId: "no-such-session" } };
    },
    (told) => {
      said.push(newest(told));
      return "done";
    },
  ]);
  await generateText({ model, tools: forAISDK(agent.tools()), prompt: "Go", stopWhen: isStepCount(9) });
  assertEquals(said.map(({ type }) => type), ["error-text", "error-text"]);
  assertStringIncludes(said[0]?.value ?? "", 'did you mean \\"command\\"?');
  assertEquals(said[1]?.value, 'No session "no-such-session": there are none');
});

/** What the SDK makes of one call of `exec`. */
async function* callsOfExec(agent: Agent, command: string, abortSignal?: AbortSignal): AsyncGenerator<Output> {
  const { exec } = forAISDK(agent.tools());
  assert(exec !== undefined);
  const options = {
    toolCallId: "1",
    messages: [],
    context: undefined as never,
    ...(abortSignal !== undefined && { abortSignal }),
  };
  yield* executeTool({ tool: tool(exec), input: { command, yieldMs: 120_000, stdin: "closed" }, options });
}

interface Output {
  readonly type: "preliminary" | "final";
  readonly output: ToolAnswer<object>;
}

test("AI SDK: what exec prints while it waits comes as preliminary results, last the answer", async () => {
  const { agent } = closing(open());
  const file = join(mkdtempSync(join(tmpdir(), "offstage-")), "go");
  const outputs: Output[] = [];
  for await (const each of callsOfExec(agent, `echo working; until test -e '${file}'; do sleep 0.1; done; echo done`)) {
    outputs.push(each);
    if (outputs.length === 1) writeFileSync(file, "");
  }
  rmSync(dirname(file), { recursive: true });
  const waiting = { text: "working\n", details: { status: "waiting", bytes: 8 }, isError: false };
  assertEquals(outputs[0], { type: "preliminary", output: waiting });
  const { type, output } = outputs.at(-1) ?? {};
  assertEquals([type, output?.text], ["final", "working\ndone"]);
});

test("AI SDK: its abort signal ends the command", async () => {
  const { agent } = closing(open());
  const controller = new AbortController();
  const run = async (): Promise<void> => {
    for await (const _ of callsOfExec(agent, "echo up; sleep 1000", controller.signal)) controller.abort("enough");
  };
  assertEquals((await assertRejects(run, AbortError, "its processes were ended")).output, "up\n");
});
