// The TypeScript SDK: choosing, forcing and forbidding tool calls, their results, streams and the SDK's own loop.

import type { ChatCompletionMessageToolCall, ChatCompletionTool } from "openai/resources/chat/completions";
import { check, equal, ok, same } from "./checks.ts";
import {
  asking,
  CAPITAL,
  CAPITAL_ANSWER,
  PARIS,
  PARIS_AND_ROME,
  SUNNY,
  SUNNY_ANSWER,
  TOOLS,
  withResults,
} from "./prompts.ts";
import { failure, type Sdk } from "./sdk.ts";

type Calls = readonly ChatCompletionMessageToolCall[] | undefined;

const called = (calls: Calls) =>
  (calls ?? []).flatMap((call) =>
    call.type === "function" ? [[call.function.name, JSON.parse(call.function.arguments)]] : [],
  );
const weatherIn = (city: string) => ["get_weather", { city }];

export async function toolChecks(sdk: Sdk): Promise<void> {
  await choiceChecks(sdk);
  await resultChecks(sdk);
  await streamChecks(sdk);
  await loopChecks(sdk);
}

async function choiceChecks({ client, OpenAI }: Sdk): Promise<void> {
  const choice = async (content: string, extra: object = {}) => {
    const answer = await client.chat.completions.create({ ...asking(content), tools: TOOLS, ...extra });
    return answer.choices[0];
  };

  await check("tools: the fitting one is called", async () => {
    const { finish_reason, message } = (await choice(PARIS)) ?? {};
    same(called(message?.tool_calls), [weatherIn("Paris")]);
    equal(finish_reason, "tool_calls");
    equal(message?.content, null);
    ok(message?.tool_calls?.[0]?.id, "a call without id");
  });

  await check("tools: none is called when none is needed", async () => {
    const { finish_reason, message } = (await choice(CAPITAL)) ?? {};
    equal(message?.content, CAPITAL_ANSWER);
    equal(message?.tool_calls, undefined);
    equal(finish_reason, "stop");
  });

  await check("tools: several calls, with ids of their own", async () => {
    const calls = (await choice(PARIS_AND_ROME))?.message.tool_calls;
    same(called(calls), [weatherIn("Paris"), weatherIn("Rome")]);
    equal(new Set(calls?.map(({ id }) => id)).size, 2);
  });

  await check("parallel_tool_calls false: one call", async () => {
    const { message } = (await choice(PARIS_AND_ROME, { parallel_tool_calls: false })) ?? {};
    same(called(message?.tool_calls), [weatherIn("Paris")]);
  });

  await check("tool_choice required calls whatever is said", async () => {
    const { finish_reason, message } = (await choice("Hello!", { tool_choice: "required" })) ?? {};
    equal(message?.tool_calls?.length, 1);
    equal(finish_reason, "tool_calls");
  });

  await check("tool_choice with a name calls that one", async () => {
    const { message } = (await choice(PARIS, { tool_choice: named("get_time") })) ?? {};
    same(called(message?.tool_calls), [["get_time", { place: "Paris" }]]);
  });

  await check("tool_choice none answers in text", async () => {
    const { finish_reason, message } = (await choice(PARIS, { tool_choice: "none" })) ?? {};
    ok(message?.content, "no content");
    equal(message?.tool_calls, undefined);
    equal(finish_reason, "stop");
  });

  await check("logprobs beside tools cover the text", async () => {
    const answer = await choice(CAPITAL, { logprobs: true, top_logprobs: 2 });
    const tokens = answer?.logprobs?.content ?? [];
    equal(tokens.map(({ token }) => token).join(""), CAPITAL_ANSWER);
    ok(
      tokens.every(({ logprob, top_logprobs }) => logprob <= 0 && top_logprobs.length === 2),
      "wrong alternatives",
    );
    const call = await choice(PARIS, { logprobs: true });
    same(called(call?.message.tool_calls), [weatherIn("Paris")]);
    ok(Array.isArray(call?.logprobs?.content), "no list of logprobs beside a call");
  });

  await check("a choice that names no tool is BadRequestError", async () => {
    const error = await failure(() => choice(PARIS, { tool_choice: named("nothing") }), OpenAI.BadRequestError);
    equal(error.param, "tool_choice");
    equal((await failure(() => choice(PARIS, { tool_choice: "maybe" }), OpenAI.BadRequestError)).param, "tool_choice");
    const without = { tools: undefined, tool_choice: "required" };
    equal((await failure(() => choice(PARIS, without), OpenAI.BadRequestError)).param, "tool_choice");
  });

  await check("parameters that are no schema are BadRequestError", async () => {
    const tools = [{ type: "function", function: { name: "broken", parameters: { type: "nonsense" } } }];
    const error = await failure(() => choice(PARIS, { tools }), OpenAI.BadRequestError);
    ok(error.param?.startsWith("tools.0.function.parameters"), `${error.param}`);
  });
}

const named = (name: string) => ({ type: "function", function: { name } });

async function resultChecks({ client }: Sdk): Promise<void> {
  await check("tool results become an answer", async () => {
    const { messages, ...rest } = asking(PARIS);
    const first = await client.chat.completions.create({ ...rest, messages, tools: TOOLS });
    const message = first.choices[0]?.message;
    if (!message) throw new Error("no message");
    const next = withResults(messages, message, () => SUNNY);
    const second = await client.chat.completions.create({ ...rest, messages: next, tools: TOOLS });
    equal(second.choices[0]?.message.content, SUNNY_ANSWER);
    equal(second.choices[0]?.finish_reason, "stop");
  });

  await check("results of two calls, sent in another order", async () => {
    const { messages, ...rest } = asking(PARIS_AND_ROME);
    const first = await client.chat.completions.create({ ...rest, messages, tools: TOOLS });
    const message = first.choices[0]?.message;
    if (!message) throw new Error("no message");
    const [user, assistant, paris, rome] = withResults(messages, message, (call) =>
      call.arguments.includes("Paris") ? "21" : "17",
    );
    if (!user || !assistant || !paris || !rome) throw new Error("fewer than two calls");
    const next = [user, assistant, rome, paris];
    const second = await client.chat.completions.create({ ...rest, messages: next, tools: TOOLS });
    equal(second.choices[0]?.message.content, "Paris: 21, Rome: 17");
  });
}

async function streamChecks({ client, helpers }: Sdk): Promise<void> {
  await check("a stream's deltas add up to the calls", async () => {
    const request = { ...asking(PARIS_AND_ROME), tools: TOOLS };
    const stream = await client.chat.completions.create({ ...request, stream: true });
    const calls: { id: string; name: string; arguments: string }[] = [];
    let finish: string | null | undefined;
    for await (const { choices } of stream) {
      finish = choices[0]?.finish_reason ?? finish;
      for (const { index, id, function: part } of choices[0]?.delta.tool_calls ?? []) {
        const call = (calls[index] ??= { id: "", name: "", arguments: "" });
        call.id += id ?? "";
        call.name += part?.name ?? "";
        call.arguments += part?.arguments ?? "";
      }
    }
    same(
      calls.map((call) => [call.name, JSON.parse(call.arguments)]),
      [weatherIn("Paris"), weatherIn("Rome")],
    );
    ok(
      calls.every(({ id }) => id.length > 0),
      "a call without id",
    );
    equal(finish, "tool_calls");
  });

  await check("the stream helper assembles calls and reports their arguments", async () => {
    const stream = helpers.stream({ ...asking(PARIS_AND_ROME), tools: TOOLS });
    const done: unknown[] = [];
    stream.on("tool_calls.function.arguments.done", (call) => done.push([call.name, JSON.parse(call.arguments)]));
    const final = await stream.finalChatCompletion();
    const expected = [weatherIn("Paris"), weatherIn("Rome")];
    same(called(final.choices[0]?.message.tool_calls), expected);
    same(done, expected);
    equal(final.choices[0]?.finish_reason, "tool_calls");
  });

  await check("a stream that answers in text has no call deltas", async () => {
    const stream = await client.chat.completions.create({ ...asking(CAPITAL), tools: TOOLS, stream: true });
    const chunks = await Array.fromAsync(stream);
    equal(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? "").join(""), CAPITAL_ANSWER);
    ok(!chunks.some((chunk) => chunk.choices[0]?.delta.tool_calls), "call deltas");
  });
}

async function loopChecks({ helpers, z, zodFunction }: Sdk): Promise<void> {
  const parameters = z.object({ city: z.string() });
  const weather = (asked: string[]) =>
    zodFunction({
      name: "get_weather",
      description: "Get the current weather",
      parameters,
      function: ({ city }) => {
        asked.push(city);
        return SUNNY;
      },
    });

  await check("runTools calls the function and comes back with an answer", async () => {
    const asked: string[] = [];
    const runner = helpers.runTools({ ...asking(PARIS), tools: [weather(asked)] });
    equal(await runner.finalContent(), SUNNY_ANSWER);
    same(asked, ["Paris"]);
  });

  await check("runTools, streaming", async () => {
    const asked: string[] = [];
    const runner = helpers.runTools({ ...asking(PARIS), tools: [weather(asked)], stream: true });
    let text = "";
    runner.on("content", (delta) => (text += delta));
    equal(await runner.finalContent(), SUNNY_ANSWER);
    equal(text, SUNNY_ANSWER);
    same(asked, ["Paris"]);
  });

  await check("parse reads a strict tool's arguments", async () => {
    const tools: ChatCompletionTool[] = [
      zodFunction({ name: "get_weather", description: "Get the current weather", parameters }),
    ];
    const final = await helpers.parse({ ...asking(PARIS), tools });
    const call = final.choices[0]?.message.tool_calls?.[0];
    same(call?.type === "function" && call.function.parsed_arguments, { city: "Paris" });
  });
}
