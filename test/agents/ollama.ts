// Ollama's own TypeScript client, unmodified, with a running svc that serves svc-mini at SVC_URL. Prints one line per
// check, then the counts.

import { Ollama } from "ollama";
import { check, equal, ok, same, summary } from "../clients/checks.ts";
import { ANNA, ANNA_DATA, ANNA_SCHEMA, CAPITAL, CAPITAL_ANSWER, PARIS, PARIS_AND_ROME } from "../clients/prompts.ts";
import { ADDITION, ADDITION_ANSWER, SUNNY, SUNNY_ANSWER } from "../clients/prompts.ts";

const ollama = new Ollama({ host: process.env["SVC_URL"] ?? "" });
const model = "svc-mini";
const options = { temperature: 0 };
const user = (content: string) => [{ role: "user", content }];
const weather = {
  type: "function",
  function: {
    name: "get_weather",
    description: "Get the current weather",
    parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  },
};

await check("ollama (TypeScript): chat, whole and streamed", async () => {
  const asked = { model, messages: user(CAPITAL), options };
  const answer = await ollama.chat(asked);
  equal(answer.message.content, CAPITAL_ANSWER);
  same([answer.done, answer.done_reason], [true, "stop"]);
  let text = "";
  let last;
  for await (const part of await ollama.chat({ ...asked, stream: true })) {
    text += part.message.content;
    last = part;
  }
  equal(text, CAPITAL_ANSWER);
  same([last?.done, last?.eval_count], [true, answer.eval_count]);
});

await check("ollama (TypeScript): calls, whole and streamed, and their result", async () => {
  const asked = { model, messages: user(PARIS_AND_ROME), tools: [weather], options };
  const call = (index: number, city: string) => ({ index, name: "get_weather", arguments: { city } });
  const expected = [call(0, "Paris"), call(1, "Rome")];
  /** Calls have ids since Ollama 0.12.10; its client's types lack them. */
  const expectCalls = (calls: readonly { readonly id?: string; readonly function: object }[] = []) => {
    same(
      calls.map((one) => one.function),
      expected,
    );
    const ids = new Set(calls.map(({ id }) => id).filter(Boolean));
    equal(ids.size, expected.length);
  };
  expectCalls((await ollama.chat(asked)).message.tool_calls);
  const parts = await Array.fromAsync(await ollama.chat({ ...asked, stream: true }));
  expectCalls(parts.flatMap(({ message }) => message.tool_calls ?? []));
  // An older client's calls have neither.
  const paris = { function: { name: "get_weather", arguments: { city: "Paris" } } };
  const result = { role: "tool", content: SUNNY, tool_name: "get_weather" };
  const messages = [...user(PARIS), { role: "assistant", content: "", tool_calls: [paris] }, result];
  equal((await ollama.chat({ ...asked, messages })).message.content, SUNNY_ANSWER);
});

await check("ollama (TypeScript): thinking", async () => {
  const { message } = await ollama.chat({ model, messages: user(ADDITION), think: true, options });
  equal(message.content, ADDITION_ANSWER);
  ok(message.thinking, "no thoughts");
  const silent = await ollama.chat({ model, messages: user(ADDITION), think: false, options });
  equal(silent.message.thinking, undefined);
});

await check("ollama (TypeScript): an answer by a schema", async () => {
  const { message } = await ollama.chat({ model, messages: user(ANNA), format: ANNA_SCHEMA, options });
  same(JSON.parse(message.content), ANNA_DATA);
});

await check("ollama (TypeScript): generate, whole and streamed", async () => {
  const asked = { model, prompt: CAPITAL, options };
  equal((await ollama.generate(asked)).response, CAPITAL_ANSWER);
  const parts = await Array.fromAsync(await ollama.generate({ ...asked, stream: true }));
  equal(parts.map(({ response }) => response).join(""), CAPITAL_ANSWER);
});

await check("ollama (TypeScript): list, ps, show, version", async () => {
  const [listed] = (await ollama.list()).models;
  const [running] = (await ollama.ps()).models;
  ok(/^[0-9a-f]{64}$/.test(listed?.digest ?? ""), `digest ${listed?.digest}`);
  ok(listed?.name.includes("svc-mini") && listed.size > 0, JSON.stringify(listed));
  equal(running?.name, listed?.name);
  const { capabilities, details } = await ollama.show({ model });
  ok(capabilities.includes("tools") && capabilities.includes("thinking"), capabilities.join(" "));
  equal(details.format, "gguf");
  ok((await ollama.version()).version, "no version");
});

await check("ollama (TypeScript): vectors, in both forms", async () => {
  const { embeddings } = await ollama.embed({ model: "all-minilm-l6-v2", input: ["hi", "there"] });
  same([embeddings.length, embeddings[0]?.length], [2, 384]);
  const { embedding } = await ollama.embeddings({ model: "all-minilm-l6-v2", prompt: "hi" });
  same(embedding, embeddings[0]);
});

await check("ollama (TypeScript): refusals are its ResponseError, with a sentence", async () => {
  const refusals = [
    [400, "options.temperature", () => ollama.chat({ model, messages: user("hi"), options: { temperature: -1 } })],
    [404, "embedding model", () => ollama.embed({ model, input: "hi" })],
    [400, "owner/repository", () => ollama.pull({ model: "other" })],
    [404, "downloaded", () => ollama.delete({ model: "owner/other" })],
  ] as const;
  for (const [status, word, call] of refusals) {
    const error: Error & { status_code?: number } = await call().then(
      () => new Error("the call succeeded"),
      (thrown) => thrown,
    );
    same([error.name, error.status_code], ["ResponseError", status]);
    ok(error.message.includes(word), error.message);
  }
});

await check("ollama (TypeScript): an abort ends the stream", async () => {
  const stream = await ollama.generate({
    model,
    prompt: "abcd",
    raw: true,
    stream: true,
    options: { num_predict: 5000 },
  });
  let thrown = "";
  try {
    for await (const _ of stream) stream.abort();
  } catch (error) {
    thrown = (error as Error).name;
  }
  equal(thrown, "AbortError");
});

summary();
