// The official TypeScript SDK, unmodified, with a running svc: `bun openai.ts FOLDER`, where FOLDER contains the
// SDK's major version. SVC_URL serves svc-mini, ENDLESS_URL a model that never ends its answer.

import type { ChatCompletionChunk } from "openai/resources/chat/completions";
import { check, equal, ok, summary, untilIdle } from "./checks.ts";
import { audioChecks } from "./openai-audio.ts";
import { imageChecks } from "./openai-images.ts";
import { multiplexChecks } from "./openai-multiplex.ts";
import { answerChecks } from "./openai-answers.ts";
import { realtimeChecks } from "./openai-realtime.ts";
import { embeddingChecks } from "./openai-embeddings.ts";
import { batchChecks } from "./openai-batches.ts";
import { structuredChecks } from "./openai-structured.ts";
import { toolChecks } from "./openai-tools.ts";
import { failure as failureOf, loadSdk } from "./sdk.ts";

const folder = process.argv[2] ?? ".";
const sdk = await loadSdk(folder);
const { OpenAI, client, endless, helpers, version } = sdk;
console.log(`openai ${version} (TypeScript)`);

const question = { model: "svc-mini", temperature: 0, messages: [{ role: "user" as const, content: "Say hello." }] };
const story = { model: "any", max_tokens: 4000, messages: [{ role: "user" as const, content: "abcd efgh" }] };

const textOf = (chunks: readonly ChatCompletionChunk[]) =>
  chunks.map((chunk) => chunk.choices[0]?.delta.content ?? "").join("");

async function collect(extra: object = {}): Promise<ChatCompletionChunk[]> {
  const stream = await client.chat.completions.create({ ...question, ...extra, stream: true });
  return Array.fromAsync(stream);
}

const failure = (call: () => PromiseLike<unknown>) => failureOf(call, OpenAI.APIError);

await check("models.list names the loaded model", async () => {
  const models = await Array.fromAsync(client.models.list());
  ok(
    models.some((model) => model.id.includes("svc-mini") && model.owned_by === "svc"),
    JSON.stringify(models),
  );
});

await check("chat answers with text, finish reason and usage", async () => {
  const answer = await client.chat.completions.create(question);
  ok((answer.choices[0]?.message.content ?? "").length > 0, "no content");
  equal(answer.choices[0]?.finish_reason, "stop");
  equal(answer.usage?.total_tokens, (answer.usage?.prompt_tokens ?? 0) + (answer.usage?.completion_tokens ?? 0));
  ok(answer._request_id, "no request id");
});

await check("a stream carries the same text and ends with usage", async () => {
  const answer = await client.chat.completions.create(question);
  const chunks = await collect({ stream_options: { include_usage: true } });
  equal(textOf(chunks), answer.choices[0]?.message.content);
  equal(new Set(chunks.map((chunk) => chunk.id)).size, 1);
  equal(chunks.at(-1)?.usage?.completion_tokens, answer.usage?.completion_tokens);
  equal(chunks.at(-1)?.choices.length, 0);
});

await check("a stream without usage has no usage chunk", async () => {
  const chunks = await collect({ stream_options: { include_usage: false } });
  equal(chunks.at(-1)?.choices[0]?.finish_reason, "stop");
});

await check("logprobs cover the text token by token", async () => {
  const answer = await client.chat.completions.create({ ...question, logprobs: true, top_logprobs: 3 });
  const tokens = answer.choices[0]?.logprobs?.content ?? [];
  equal(tokens.map(({ token }) => token).join(""), answer.choices[0]?.message.content);
  ok(
    tokens.every(({ logprob, top_logprobs }) => logprob <= 0 && top_logprobs.length === 3),
    "wrong alternatives",
  );
  ok(
    tokens.every(({ token, top_logprobs }) => top_logprobs[0]?.token === token),
    "greedy choice is not the best one",
  );
});

await check("stop cuts the text before the sequence", async () => {
  const whole = (await client.chat.completions.create(question)).choices[0]?.message.content ?? "";
  const stop = whole.slice(2, 4);
  const answer = await client.chat.completions.create({ ...question, stop: [stop, "never"] });
  equal(answer.choices[0]?.message.content, whole.slice(0, whole.indexOf(stop)));
  equal(answer.choices[0]?.finish_reason, "stop");
});

await check("the same seed gives the same text, another seed another", async () => {
  const draw = async (seed: number) => {
    const answer = await endless.chat.completions.create({ ...story, max_tokens: 24, temperature: 1, seed });
    return answer.choices[0]?.message.content;
  };
  // A cached prompt is computed in another batch shape, so the first answer is not compared.
  const other = await draw(8);
  const first = await draw(7);
  equal(await draw(7), first);
  ok(other !== first, "two seeds gave one text");
});

await check("max_tokens ends the answer with length", async () => {
  const answer = await endless.chat.completions.create({ ...story, max_tokens: 5 });
  equal(answer.choices[0]?.finish_reason, "length");
  equal(answer.usage?.completion_tokens, 5);
});

await check("developer role and content parts", async () => {
  const answer = await client.chat.completions.create({
    ...question,
    messages: [
      { role: "developer", content: "Be brief." },
      {
        role: "user",
        content: [
          { type: "text", text: "Say " },
          { type: "text", text: "hello." },
        ],
      },
    ],
  });
  ok(answer.choices[0]?.message.content, "no content");
});

await check("the stream helper assembles the final completion", async () => {
  const final = await helpers.stream(question).finalChatCompletion();
  equal(
    final.choices[0]?.message.content,
    (await client.chat.completions.create(question)).choices[0]?.message.content,
  );
});

await check("no messages is BadRequestError", async () => {
  const error = await failure(() => client.chat.completions.create({ ...question, messages: [] }));
  ok(error instanceof OpenAI.BadRequestError, error.message);
  equal(error.status, 400);
  equal(error.type, "invalid_request_error");
  equal(error.param, "messages");
});

await check("a prompt over the context is BadRequestError context_length_exceeded", async () => {
  const messages = [{ role: "user" as const, content: "hello ".repeat(60_000) }];
  const error = await failure(() => client.chat.completions.create({ ...question, messages }));
  ok(error instanceof OpenAI.BadRequestError, error.message);
  equal(error.code, "context_length_exceeded");
});

await check("an unknown path is NotFoundError", async () => {
  const error = await failure(() => client.get("/nothing/here"));
  ok(error instanceof OpenAI.NotFoundError, error.message);
});

await check("aborting a stream ends its work on the server", async () => {
  const stream = await endless.chat.completions.create({ ...story, stream: true });
  for await (const _ of stream) break;
  stream.controller.abort();
  await untilIdle();
});

await check("aborting a call that is not streamed ends its work on the server", async () => {
  const abort = new AbortController();
  const call = endless.chat.completions.create(story, { signal: abort.signal });
  setTimeout(() => abort.abort(), 300);
  const error = await failure(() => call);
  ok(error instanceof OpenAI.APIUserAbortError, error.message);
  await untilIdle();
});

await check("cancelling by request id ends the stream cleanly", async () => {
  const headers = { "X-Request-ID": `cancel-${version}` };
  const stream = await endless.chat.completions.create({ ...story, stream: true }, { headers });
  let last: ChatCompletionChunk | undefined;
  for await (const chunk of stream) {
    if (!last) await endless.post(`/chat/completions/${headers["X-Request-ID"]}/cancel`);
    last = chunk;
  }
  equal(last?.choices[0]?.finish_reason, "cancelled");
});

await toolChecks(sdk);
await structuredChecks(sdk);
await answerChecks(sdk);
await embeddingChecks(sdk);
await audioChecks(sdk);
await imageChecks(sdk);
await realtimeChecks(sdk, folder);
await batchChecks(sdk);
await multiplexChecks(sdk);
summary();
