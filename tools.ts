/**
 * The tools of an agent in the shapes that model APIs and frameworks want: {@linkcode forOpenAI},
 * {@linkcode forAnthropic}, {@linkcode forAISDK}, and {@linkcode jsonSchemas} for all others. {@linkcode runToolCall}
 * answers what a model calls.
 *
 * @module
 */

export { jsonSchemas } from "./src/tools/json_schemas.ts";
export type { PlainTool } from "./src/tools/json_schemas.ts";
export { forOpenAI } from "./src/tools/openai.ts";
export type { OpenAIChatTool, OpenAIFunction, OpenAIOptions, OpenAIResponsesTool } from "./src/tools/openai.ts";
export { forAnthropic } from "./src/tools/anthropic.ts";
export type { AnthropicTool } from "./src/tools/anthropic.ts";
export { forAISDK } from "./src/tools/ai_sdk.ts";
export type { AISDKTool } from "./src/tools/ai_sdk.ts";
export { runToolCall } from "./src/tools/call.ts";
export type {
  AnthropicAnswer,
  AnthropicCall,
  OpenAIChatAnswer,
  OpenAIChatCall,
  OpenAIResponsesAnswer,
  OpenAIResponsesCall,
  ToolCall,
} from "./src/tools/call.ts";
