// An agent framework, the Vercel AI SDK with its provider for compatible servers, unmodified, with a running svc:
// text, streams, tool loops and structured output. SVC_URL serves svc-mini, ENDLESS_URL a model that never ends.

import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { APICallError, generateObject, generateText, isStepCount, Output, streamObject, streamText, tool } from "ai";
import { version } from "ai/package.json";
import { z } from "zod";
import { audioChecks } from "./ai-sdk-audio.ts";
import { imageChecks } from "./ai-sdk-images.ts";
import { check, equal, ok, same, summary, untilIdle } from "./checks.ts";
import {
  ADDITION,
  ADDITION_ANSWER,
  ANNA,
  ANNA_DATA,
  CAPITAL,
  CAPITAL_ANSWER,
  PARIS,
  PARIS_AND_ROME,
  SUNNY,
  SUNNY_ANSWER,
} from "./prompts.ts";
import { failure } from "./sdk.ts";

console.log(`ai ${version} (TypeScript)`);
// The deprecated functions are called on purpose.
Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false });

const provider = (url: string | undefined) =>
  createOpenAICompatible({ name: "svc", baseURL: `${url}/v1`, includeUsage: true, supportsStructuredOutputs: true });
const model = provider(process.env["SVC_URL"])("svc-mini");
const endless = provider(process.env["ENDLESS_URL"])("any");
const greedy = { model, temperature: 0, maxRetries: 0 };

const person = z.object({ name: z.string(), age: z.number().int(), city: z.string() });

/** Returns a tool that records the arguments of its calls. */
const weather = (asked: string[], result: (city: string) => string = () => SUNNY) =>
  tool({
    description: "Get the current weather",
    inputSchema: z.object({ city: z.string() }),
    execute: async ({ city }) => {
      asked.push(city);
      return result(city);
    },
  });

await check("generateText gives text, finish reason and usage", async () => {
  const { text, finishReason, usage, warnings } = await generateText({ ...greedy, prompt: CAPITAL });
  equal(text, CAPITAL_ANSWER);
  equal(finishReason, "stop");
  ok((usage.inputTokens ?? 0) > 0 && (usage.outputTokens ?? 0) > 0, JSON.stringify(usage));
  same(warnings ?? [], []);
});

await check("generateText follows instructions and an earlier conversation", async () => {
  const { text } = await generateText({
    ...greedy,
    instructions: "You are a helpful assistant.",
    messages: [
      { role: "user", content: "My name is Anna." },
      { role: "assistant", content: "Nice to meet you, Anna!" },
      { role: "user", content: "What is my name?" },
    ],
  });
  ok(text.includes("Anna"), text);
});

await check("streamText gives the same text in pieces", async () => {
  const result = streamText({ ...greedy, prompt: CAPITAL });
  const pieces = await Array.fromAsync(result.textStream);
  equal(pieces.join(""), CAPITAL_ANSWER);
  ok(pieces.length > 1, "one piece");
  equal(await result.finishReason, "stop");
  ok(((await result.usage).outputTokens ?? 0) > 0, "no usage");
});

await check("maxOutputTokens ends with length", async () => {
  const { finishReason, usage } = await generateText({
    ...greedy,
    model: endless,
    prompt: "abcd efgh",
    maxOutputTokens: 5,
  });
  equal(finishReason, "length");
  equal(usage.outputTokens, 5);
});

await check("generateText, two steps: a call, then the answer", async () => {
  const asked: string[] = [];
  const tools = { get_weather: weather(asked) };
  const result = await generateText({ ...greedy, prompt: PARIS, tools, stopWhen: isStepCount(4) });
  equal(result.text, SUNNY_ANSWER);
  same(asked, ["Paris"]);
  same(
    result.steps.map(({ finishReason }) => finishReason),
    ["tool-calls", "stop"],
  );
});

await check("streamText, two steps", async () => {
  const asked: string[] = [];
  const tools = { get_weather: weather(asked) };
  const result = streamText({ ...greedy, prompt: PARIS, tools, stopWhen: isStepCount(4) });
  const parts = await Array.fromAsync(result.fullStream);
  equal(await result.text, SUNNY_ANSWER);
  same(asked, ["Paris"]);
  equal((await result.steps).length, 2);
  const streamed = parts.flatMap((part) => (part.type === "tool-input-delta" ? [part.delta] : [])).join("");
  same(JSON.parse(streamed), { city: "Paris" });
  ok(!parts.some((part) => part.type === "error"), "an error part");
});

await check("two calls in one step", async () => {
  const asked: string[] = [];
  const tools = { get_weather: weather(asked, (city) => (city === "Paris" ? "21" : "17")) };
  const result = await generateText({ ...greedy, prompt: PARIS_AND_ROME, tools, stopWhen: isStepCount(4) });
  same(asked, ["Paris", "Rome"]);
  equal(result.text, "Paris: 21, Rome: 17");
});

await check("toolChoice: required, one by name, none", async () => {
  const calls = async (prompt: string, toolChoice: "required" | "none" | { type: "tool"; toolName: "get_time" }) => {
    const inputSchema = z.object({ place: z.string() });
    const execute = async () => "";
    const tools = {
      get_time: tool({ description: "Get the current time in a place", inputSchema, execute }),
      get_weather: tool({ description: "Get the current weather", inputSchema, execute }),
    };
    const { toolCalls } = await generateText({ ...greedy, prompt, tools, toolChoice });
    return toolCalls.map(({ toolName }) => toolName);
  };
  equal((await calls("Hello!", "required")).length, 1);
  same(await calls(PARIS, { type: "tool", toolName: "get_time" }), ["get_time"]);
  same(await calls(PARIS, "none"), []);
});

await check("Output.object gives an object of the schema", async () => {
  const { output } = await generateText({ ...greedy, prompt: ANNA, output: Output.object({ schema: person }) });
  same(output, ANNA_DATA);
});

await check("Output.object as a stream of partial objects", async () => {
  const result = streamText({ ...greedy, prompt: ANNA, output: Output.object({ schema: person }) });
  const partial = await Array.fromAsync(result.partialOutputStream);
  same(partial.at(-1), ANNA_DATA);
  ok(partial.length > 1, "not in parts");
});

await check("Output.array and Output.choice", async () => {
  const element = z.object({ name: z.string().max(20), city: z.string().max(20) });
  const array = Output.array({ element, maxItems: 2 });
  const { output } = await generateText({ ...greedy, prompt: ANNA, output: array });
  ok(Array.isArray(output) && output.length <= 2, JSON.stringify(output));
  const choice = Output.choice({ options: ["zebra", "quokka"] });
  const chosen = (await generateText({ ...greedy, prompt: "Hello!", output: choice })).output;
  ok(["zebra", "quokka"].includes(chosen), chosen);
});

await check("Output.json without a schema", async () => {
  const prompt = "Extract the name and city as JSON: Anna lives in Paris.";
  const { output } = await generateText({ ...greedy, prompt, output: Output.json() });
  same(output, { name: "Anna", city: "Paris" });
});

await check("generateObject and streamObject, the older way", async () => {
  same((await generateObject({ ...greedy, prompt: ANNA, schema: person })).object, ANNA_DATA);
  const stream = streamObject({ ...greedy, prompt: ANNA, schema: person });
  same((await Array.fromAsync(stream.partialObjectStream)).at(-1), ANNA_DATA);
  same(await stream.object, ANNA_DATA);
});

await check("tools and structured output in one loop", async () => {
  const asked: string[] = [];
  const tools = { get_weather: weather(asked) };
  const output = Output.object({ schema: z.object({ temperature: z.number(), city: z.string().max(20) }) });
  const result = await generateText({ ...greedy, prompt: PARIS, tools, output, stopWhen: isStepCount(4) });
  same(asked.slice(0, 1), ["Paris"]);
  ok(typeof result.output.temperature === "number", result.text);
});

await check("reasoning comes apart from the text", async () => {
  const result = await generateText({ ...greedy, prompt: ADDITION, reasoning: "high" });
  equal(result.text, ADDITION_ANSWER);
  ok(result.reasoningText?.includes("42"), "no reasoning");
  ok((result.usage.outputTokenDetails?.reasoningTokens ?? 0) > 0, "no reasoning tokens");
  const stream = streamText({ ...greedy, prompt: ADDITION, reasoning: "high" });
  const parts = await Array.fromAsync(stream.fullStream);
  equal(await stream.text, ADDITION_ANSWER);
  ok(
    parts.some((part) => part.type === "reasoning-delta"),
    "no reasoning in the stream",
  );
});

await check("fields of svc pass through providerOptions", async () => {
  const providerOptions = { svc: { min_p: 0.1, top_k: 1, repetition_penalty: 1 } };
  equal((await generateText({ ...greedy, temperature: 1, prompt: CAPITAL, providerOptions })).text, CAPITAL_ANSWER);
});

await check("a refused request is an APICallError that is not retried", async () => {
  const prompt = "hello ".repeat(60_000);
  const error = await failure(() => generateText({ ...greedy, prompt, maxRetries: 2 }), APICallError);
  equal(error.statusCode, 400);
  equal(error.isRetryable, false);
  ok(error.message.includes("context"), error.message);
});

await check("aborting a stream ends its work on the server", async () => {
  const abort = new AbortController();
  const options = { ...greedy, model: endless, prompt: "abcd efgh", maxOutputTokens: 4000 };
  const { textStream } = streamText({ ...options, abortSignal: abort.signal });
  for await (const _ of textStream) break;
  abort.abort();
  await untilIdle();
});

await audioChecks();
await imageChecks();
summary();
