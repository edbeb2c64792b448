// The TypeScript SDK: several answers, reasoning, and the sampling parameters.

import type { ChatCompletionChunk } from "openai/resources/chat/completions";
import { check, equal, ok, same } from "./checks.ts";
import { ADDITION, ADDITION_ANSWER, asking, CAPITAL, CAPITAL_ANSWER, PARIS, TOOLS } from "./prompts.ts";
import { failure, type Sdk } from "./sdk.ts";

export async function answerChecks(sdk: Sdk): Promise<void> {
  await severalChecks(sdk);
  await reasoningChecks(sdk);
  await samplingChecks(sdk);
}

const story = { ...asking("Tell me a story."), temperature: 1, seed: 11, max_tokens: 30, n: 2 };

async function severalChecks({ client, helpers, OpenAI }: Sdk): Promise<void> {
  await check("n = 2 gives two answers and counts both", async () => {
    const answer = await client.chat.completions.create(story);
    same(
      answer.choices.map(({ index }) => index),
      [0, 1],
    );
    equal(new Set(answer.choices.map(({ message }) => message.content)).size, 2);
    const one = await client.chat.completions.create({ ...story, n: 1 });
    equal(answer.usage?.prompt_tokens, one.usage?.prompt_tokens);
    ok((answer.usage?.completion_tokens ?? 0) > (one.usage?.completion_tokens ?? 0), "tokens of one answer");
  });

  await check("n = 2 as a stream: the same two answers", async () => {
    const whole = await client.chat.completions.create(story);
    const chunks = await Array.fromAsync(await client.chat.completions.create({ ...story, stream: true }));
    const textOf = (index: number) =>
      chunks.flatMap(({ choices }) => choices.filter((choice) => choice.index === index));
    for (const { index, message, finish_reason } of whole.choices) {
      equal(
        textOf(index)
          .map(({ delta }) => delta.content ?? "")
          .join(""),
        message.content,
      );
      equal(textOf(index).filter((choice) => choice.finish_reason === finish_reason).length, 1);
    }
    const final = await helpers.stream(story).finalChatCompletion();
    same(
      final.choices.map(({ message }) => message.content),
      whole.choices.map(({ message }) => message.content),
    );
  });

  await check("n = 2 with tools: calls in both", async () => {
    const answer = await client.chat.completions.create({ ...asking(PARIS), tools: TOOLS, n: 2 });
    equal(answer.choices.length, 2);
    const ids = answer.choices.map(({ message }) => message.tool_calls?.[0]?.id);
    equal(new Set(ids).size, 2);
  });

  await check("n out of range is BadRequestError", async () => {
    for (const n of [0, 100_000]) {
      const error = await failure(() => client.chat.completions.create({ ...story, n }), OpenAI.BadRequestError);
      equal(error.param, "n");
    }
  });
}

/** Returns the reasoning of a message; the SDK does not know the field, but passes it on. */
const reasoningOf = (part: object | undefined): string => Reflect.get(part ?? {}, "reasoning_content") ?? "";

async function reasoningChecks({ client }: Sdk): Promise<void> {
  const thinking = { ...asking(ADDITION), reasoning_effort: "high" as const };

  await check("reasoning_effort: thoughts beside the answer", async () => {
    const answer = await client.chat.completions.create(thinking);
    equal(answer.choices[0]?.message.content, ADDITION_ANSWER);
    ok(reasoningOf(answer.choices[0]?.message).includes("42"), "no reasoning");
    ok((answer.usage?.completion_tokens_details?.reasoning_tokens ?? 0) > 0, "no reasoning tokens");
  });

  await check("reasoning in a stream comes before the answer", async () => {
    const whole = await client.chat.completions.create(thinking);
    const chunks = await Array.fromAsync(await client.chat.completions.create({ ...thinking, stream: true }));
    const deltas = chunks.map((chunk: ChatCompletionChunk) => chunk.choices[0]?.delta);
    equal(deltas.map((delta) => delta?.content ?? "").join(""), ADDITION_ANSWER);
    equal(deltas.map(reasoningOf).join(""), reasoningOf(whole.choices[0]?.message));
    const lastThought = deltas.findLastIndex((delta) => reasoningOf(delta) !== "");
    ok(lastThought < deltas.findIndex((delta) => delta?.content), "mixed with the answer");
  });

  await check("no reasoning unless asked for", async () => {
    for (const effort of [{}, { reasoning_effort: "none" as const }, { reasoning_effort: null }]) {
      const answer = await client.chat.completions.create({ ...asking(ADDITION), ...effort });
      equal(answer.choices[0]?.message.content, ADDITION_ANSWER);
      equal(reasoningOf(answer.choices[0]?.message), "");
      equal(answer.usage?.completion_tokens_details?.reasoning_tokens ?? 0, 0);
    }
  });

  await check("reasoning before a tool call", async () => {
    const request = { ...asking(PARIS), tools: TOOLS, reasoning_effort: "low" as const };
    const { message } = (await client.chat.completions.create(request)).choices[0] ?? {};
    equal(message?.tool_calls?.length, 1);
    ok(reasoningOf(message), "no reasoning");
  });
}

async function samplingChecks({ client, endless, OpenAI }: Sdk): Promise<void> {
  const firstToken = async () => {
    const body = { text: CAPITAL_ANSWER };
    const { tokens } = (await client.post("/tokenize", { body })) as { tokens: number[] };
    return `${tokens[0]}`;
  };

  await check("logit_bias bans a token, and forces one", async () => {
    const token = await firstToken();
    const banned = await client.chat.completions.create({ ...asking(CAPITAL), logit_bias: { [token]: -100 } });
    const text = banned.choices[0]?.message.content ?? "";
    ok(text.length > 0 && !text.startsWith("The"), text);
    const request = { ...asking("Hello!"), logit_bias: { [token]: 100 }, max_tokens: 3 };
    equal((await client.chat.completions.create(request)).choices[0]?.message.content, "TheTheThe");
  });

  await check("logit_bias of something that is no token is BadRequestError", async () => {
    const request = { ...asking(CAPITAL), logit_bias: { hello: 1 } };
    equal((await failure(() => client.chat.completions.create(request), OpenAI.BadRequestError)).param, "logit_bias");
  });

  await check("a seed decides all n answers", async () => {
    const draw = async (seed: number) => {
      const request = { ...story, model: "any", seed, max_tokens: 12 };
      return (await endless.chat.completions.create(request)).choices.map(({ message }) => message.content);
    };
    // As in openai.ts, the first answer is not compared.
    const other = await draw(8);
    const first = await draw(7);
    same(await draw(7), first);
    ok(!Bun.deepEquals(other, first), "two seeds gave the same");
  });
}
