/**
 * An agent with the AI SDK: `generateText` calls the tools until the model has nothing left to do.
 *
 * So that this needs no network, a mock says what a model would. With a real one only `model` is another:
 * `import { anthropic } from "@ai-sdk/anthropic"`, and `model: anthropic("…")`.
 *
 * @module
 */
import { generateText, isStepCount } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { createOffstage } from "offstage/auto"; // or offstage/node, offstage/deno, offstage/bun
import { forAISDK } from "offstage/tools";

const offstage = createOffstage();
const agent = offstage.agent("agent-1"); // an agent sees its own sessions only

const { text, steps } = await generateText({
  model: mockModel([
    // The command asks for something, so it is in the background before it ends …
    () => ["exec", { command: 'read -r name; echo "hello $name"', yieldMs: 10_000 }],
    // … where the model types into it, and waits for its end.
    (told) => ["process", { action: "write", sessionId: sessionIn(told), data: "Ada\n" }],
    (told) => ["process", { action: "poll", sessionId: sessionIn(told), until: "exit", timeout: 30_000 }],
    () => "It greets whoever is named.",
  ]),
  tools: forAISDK(agent.tools()),
  stopWhen: isStepCount(20), // the loop ends there, whatever the model wants
  prompt: "What does the script do? Call yourself Ada.",
});

console.log(`${text} (${steps.length} steps)`);
// It greets whoever is named. (4 steps)
await offstage.close(); // ends what still runs

/** What a model does next: a call, or its last words. It is given all it has been told so far. */
type Turn = (told: string) => readonly [tool: string, input: object] | string;

/** The session that was spoken of last. */
function sessionIn(told: string): string {
  return told.match(/[a-z]+-[a-z]+-[0-9a-z]{4}/g)?.at(-1) ?? "";
}

/** A model that takes one turn after the other. */
function mockModel(turns: readonly Turn[]): MockLanguageModelV4 {
  let next = 0;
  return new MockLanguageModelV4({
    doGenerate: ({ prompt }) => {
      const turn = turns[next++]?.(JSON.stringify(prompt)) ?? "";
      const isLast = typeof turn === "string";
      return Promise.resolve({
        content: [
          isLast
            ? { type: "text", text: turn }
            : { type: "tool-call", toolCallId: `call-${next}`, toolName: turn[0], input: JSON.stringify(turn[1]) },
        ],
        finishReason: { unified: isLast ? "stop" : "tool-calls", raw: undefined },
        usage: {
          inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
          outputTokens: { total: 1, text: 1, reasoning: undefined },
        },
        warnings: [],
      });
    },
  });
}
