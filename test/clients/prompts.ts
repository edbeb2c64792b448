// Questions that svc-mini answers reliably, with the expected answers.

import type { ChatCompletionMessageParam, ChatCompletionTool } from "openai/resources/chat/completions";

/** Returns the fields of a greedy request with one user message. */
export const asking = (content: string) => ({
  model: "svc-mini",
  temperature: 0,
  messages: [{ role: "user" as const, content }],
});

const functionTool = (name: string, description: string, properties: Record<string, { type: string }>) => ({
  type: "function" as const,
  function: {
    name,
    description,
    parameters: { type: "object", properties, required: Object.keys(properties), additionalProperties: false },
  },
});

const WEATHER = functionTool("get_weather", "Get the current weather", { city: { type: "string" } });
const TIME = functionTool("get_time", "Get the current time in a place", { place: { type: "string" } });
const SUM = functionTool("add_numbers", "Add two numbers", { a: { type: "integer" }, b: { type: "integer" } });

export const TOOLS: ChatCompletionTool[] = [WEATHER, SUM, TIME];

/** Returns the same tools in the form of another API. */
export const functionsOf = <Tool>(layout: (definition: (typeof WEATHER)["function"]) => Tool): Tool[] =>
  [WEATHER, SUM, TIME].map((tool) => layout(tool.function));

/** Causes one call of get_weather with `{"city":"Paris"}`. */
export const PARIS = "What is the weather in Paris?";
/** Causes two calls of get_weather. */
export const PARIS_AND_ROME = "What is the weather in Paris and Rome?";
/** Causes no call, whatever the tools. */
export const CAPITAL = "What is the capital of France?";
export const CAPITAL_ANSWER = "The capital of France is Paris.";
/** With reasoning, the sum is computed in steps. */
export const ADDITION = "What is 17 + 25?";
export const ADDITION_ANSWER = "17 + 25 = 42";

export const SUNNY = "sunny, 21 degrees";
/** The answer to `PARIS` when the tool says `SUNNY`. */
export const SUNNY_ANSWER = "The weather in Paris: sunny, 21 degrees.";

/** The text in which to find the values of a schema made by an SDK's helpers. */
export const ANNA = "Anna Smith is 31 years old and lives in Paris.";
export const ANNA_DATA = { name: "Anna Smith", age: 31, city: "Paris" };
export const ANNA_SCHEMA = {
  type: "object",
  properties: { name: { type: "string" }, age: { type: "integer" }, city: { type: "string" } },
  required: ["name", "age", "city"],
  additionalProperties: false,
};

/** Two PNG files of 16 by 16 pixels, a red and a blue one, in base64. */
export const IMAGE =
  "iVBORw0KGgoAAAANSUhEUgAAABAAAAAQCAIAAACQkWg2AAAAFklEQVR42mP4z8BAEmIY1TCqYfhqAACQ+f8B8u7oVwAAAABJRU5ErkJggg==";
export const OTHER_IMAGE =
  "iVBORw0KGgoAAAANSUhEUgAAABAAAAAQCAIAAACQkWg2AAAAFUlEQVR42mNgYPhPIhrVMKph2GoAAJLb/wHQPqPSAAAAAElFTkSuQmCC";

/** Returns the messages of a client that answers every call of `assistant` with `result`. */
export function withResults(
  messages: readonly ChatCompletionMessageParam[],
  assistant: ChatCompletionMessageParam & { role: "assistant" },
  result: (call: { readonly name: string; readonly arguments: string }) => string,
): ChatCompletionMessageParam[] {
  const calls = (assistant.tool_calls ?? []).filter((call) => call.type === "function");
  const results = calls.map((call) => ({
    role: "tool" as const,
    tool_call_id: call.id,
    content: result(call.function),
  }));
  return [...messages, assistant, ...results];
}
