/**
 * An agent with OpenAI's Chat Completions, or any API made after them: the loop is yours, `runToolCall` answers each
 * call in the shape it came in.
 *
 * So that this needs no network, `complete` says what a model would. With the package `openai` it is:
 * `(await client.chat.completions.create({ model: "…", messages, tools })).choices[0].message`.
 *
 * @module
 */
import { createOffstage } from "offstage/auto"; // or offstage/node, offstage/deno, offstage/bun
import {
  forOpenAI,
  type OpenAIChatAnswer,
  type OpenAIChatCall,
  type OpenAIChatTool,
  runToolCall,
} from "offstage/tools";

interface AssistantMessage {
  readonly role: "assistant";
  readonly content: string | null;
  readonly tool_calls?: readonly OpenAIChatCall[];
}

type Message = { readonly role: "user"; readonly content: string } | AssistantMessage | OpenAIChatAnswer;

const MOST_TURNS = 20;

const offstage = createOffstage();
const tools = offstage.agent("agent-1").tools();
const forModel = forOpenAI(tools); // { strict: true } holds the model to the schema

const messages: Message[] = [{ role: "user", content: "How many lines does the build print?" }];
for (let turn = 0; turn < MOST_TURNS; turn++) {
  const message = await complete(messages, forModel);
  messages.push(message);
  if (!message.tool_calls?.length) break;
  // The calls of one turn at the same time. What a model gets wrong is answered as well, so that it can do better.
  messages.push(...await Promise.all(message.tool_calls.map((call) => runToolCall(tools, call))));
}

console.log(messages.at(-1)?.content);
// The build prints 3 lines.
await offstage.close(); // ends what still runs

/** Stands for the API. */
function complete(messages: readonly Message[], _tools: readonly OpenAIChatTool[]): Promise<AssistantMessage> {
  const told = String(messages.at(-1)?.content);
  const session = /[a-z]+-[a-z]+-[0-9a-z]{4}/.exec(told)?.[0];
  const call = (name: string, input: object): AssistantMessage => ({
    role: "assistant",
    content: null,
    tool_calls: [{
      id: `call-${messages.length}`,
      type: "function",
      function: { name, arguments: JSON.stringify(input) },
    }],
  });
  if (messages.length === 1) return Promise.resolve(call("exec", { command: "sleep 1; seq 3", background: true }));
  if (session !== undefined) {
    return Promise.resolve(call("process", { action: "poll", sessionId: session, until: "exit", timeout: 30_000 }));
  }
  const lines = told.split("\n").filter((line) => /^\d+$/.test(line));
  return Promise.resolve({ role: "assistant", content: `The build prints ${lines.length} lines.` });
}
