/**
 * An agent with Anthropic's Messages: the loop is yours, `runToolCall` answers each `tool_use` block.
 *
 * So that this needs no network, `create` says what a model would. With the package `@anthropic-ai/sdk` it is:
 * `client.messages.create({ model: "…", max_tokens: 4096, messages, tools })`.
 *
 * @module
 */
import { createOffstage } from "offstage/auto"; // or offstage/node, offstage/deno, offstage/bun
import {
  type AnthropicAnswer,
  type AnthropicCall,
  type AnthropicTool,
  forAnthropic,
  runToolCall,
} from "offstage/tools";

type Block = { readonly type: "text"; readonly text: string } | (AnthropicCall & { readonly type: "tool_use" });

type Message =
  | { readonly role: "user"; readonly content: string | readonly AnthropicAnswer[] }
  | { readonly role: "assistant"; readonly content: readonly Block[] };

const MOST_TURNS = 20;

const offstage = createOffstage();
const tools = offstage.agent("agent-1").tools();
const forModel = forAnthropic(tools);
const stop = new AbortController(); // stop.abort() ends the call that is waited for, and its command

const messages: Message[] = [{ role: "user", content: "Does the server come up?" }];
let last: readonly Block[] = [];
for (let turn = 0; turn < MOST_TURNS; turn++) {
  last = await create(messages, forModel);
  messages.push({ role: "assistant", content: last });
  const calls = last.filter((block) => block.type === "tool_use");
  if (calls.length === 0) break;
  const content = await Promise.all(calls.map((call) => runToolCall(tools, call, { signal: stop.signal })));
  messages.push({ role: "user", content });
}

console.log(last.map((block) => block.type === "text" ? block.text : "").join(""));
// It does: listening
await offstage.close(); // ends what still runs, here the server

/** Stands for the API. */
function create(messages: readonly Message[], _tools: readonly AnthropicTool[]): Promise<readonly Block[]> {
  const content = messages.at(-1)?.content ?? "";
  const told = typeof content === "string" ? content : content.map((block) => "content" in block ? block.content : "");
  const session = /[a-z]+-[a-z]+-[0-9a-z]{4}/.exec(String(told))?.[0];
  const use = (name: string, input: object): Promise<readonly Block[]> =>
    Promise.resolve([{ type: "tool_use", id: `toolu_${messages.length}`, name, input }]);
  if (messages.length === 1) {
    return use("exec", { command: "sleep 1; echo listening; sleep 600", background: true });
  }
  if (messages.length === 3) {
    return use("process", { action: "poll", sessionId: session, until: "listening", timeout: 30_000 });
  }
  return Promise.resolve([{ type: "text", text: `It does: ${String(told).split("\n")[0]}` }]);
}
