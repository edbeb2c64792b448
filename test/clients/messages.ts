// The official TypeScript SDK of the Messages API, unmodified, with a running svc: `bun messages.ts FOLDER`, where
// FOLDER contains the SDK's major version. The servers are those of `run.ts`.

import type { Message, MessageCreateParamsNonStreaming, RawMessageStreamEvent } from "@anthropic-ai/sdk/resources";
import { loadAnthropicSdk } from "./anthropic-sdk.ts";
import { check, equal, ok, same, summary } from "./checks.ts";
import { failureChecks } from "./failures.ts";
import { messageToolChecks } from "./messages-tools.ts";
import { ADDITION, ADDITION_ANSWER, CAPITAL, CAPITAL_ANSWER, IMAGE, OTHER_IMAGE } from "./prompts.ts";

const sdk = await loadAnthropicSdk(process.argv[2] ?? ".");
const { Anthropic, client, version, vision } = sdk;
console.log(`@anthropic-ai/sdk ${version} (TypeScript)`);

// The newest SDK has no argument for the temperature any more, but it still sends the field.
const greedy = { temperature: 0 };
const asking = (content: MessageCreateParamsNonStreaming["messages"][number]["content"]) => ({
  model: "svc-mini",
  max_tokens: 200,
  ...greedy,
  messages: [{ role: "user" as const, content }],
});
const textOf = ({ content }: Message) => content.map((block) => (block.type === "text" ? block.text : "")).join("");
const thoughtsOf = ({ content }: Message) =>
  content.map((block) => (block.type === "thinking" ? block.thinking : "")).join("");
const promptTokens = ({ usage }: Message) => usage.input_tokens + (usage.cache_read_input_tokens ?? 0);

await check("a message: text, stop reason, usage, request id", async () => {
  const message = await client.messages.create(asking(CAPITAL));
  equal(textOf(message), CAPITAL_ANSWER);
  equal(message.stop_reason, "end_turn");
  ok(message.usage.output_tokens > 0 && promptTokens(message) > 0, "no usage");
  ok(message._request_id, "no request id");
});

await check("models: listed page by page, and one by its id", async () => {
  const pages = await Array.fromAsync(client.models.list({ limit: 1 }));
  const all = (await client.models.list()).data;
  same(pages, all);
  const [first] = all;
  ok(first && first.type === "model" && first.display_name && !Number.isNaN(Date.parse(first.created_at)), "a model");
  same(await client.models.retrieve(first?.id ?? ""), first);
});

await check("every key that the SDK promises is there", async () => {
  const message = await client.messages.create(asking(CAPITAL));
  const keys = ["id", "container", "content", "diagnostics", "model", "role", "stop_details", "stop_reason"];
  for (const key of [...keys, "stop_sequence", "type", "usage"]) ok(key in message, key);
  const usage = ["cache_creation", "cache_creation_input_tokens", "cache_read_input_tokens", "inference_geo"];
  for (const key of [...usage, "output_tokens_details", "server_tool_use", "service_tier", "speed"])
    ok(key in message.usage, key);
});

await check("the events of a stream come in the convention's order", async () => {
  const events: RawMessageStreamEvent[] = [];
  for await (const event of await client.messages.create({ ...asking(CAPITAL), stream: true })) events.push(event);
  const kinds = events.map(({ type }) => type).filter((type) => type !== "content_block_delta");
  same(kinds, ["message_start", "content_block_start", "content_block_stop", "message_delta", "message_stop"]);
});

await check("messages.stream: text events, and the final message that create gives", async () => {
  const whole = await client.messages.create(asking(CAPITAL));
  const stream = client.messages.stream(asking(CAPITAL));
  let told = "";
  stream.on("text", (delta) => (told += delta));
  const final = await stream.finalMessage();
  equal(told, CAPITAL_ANSWER);
  equal(await stream.finalText(), CAPITAL_ANSWER);
  same(final.content, whole.content);
  equal(final.stop_reason, whole.stop_reason);
  equal(final.usage.output_tokens, whole.usage.output_tokens);
  equal(promptTokens(final), promptTokens(whole));
});

await check("stop sequences and max_tokens are told as the reason", async () => {
  const stopped = await client.messages.create({ ...asking(CAPITAL), stop_sequences: ["xyz", " is"] });
  same([stopped.stop_reason, stopped.stop_sequence], ["stop_sequence", " is"]);
  const cut = await client.messages.stream({ ...asking(CAPITAL), max_tokens: 3 }).finalMessage();
  same([cut.stop_reason, cut.usage.output_tokens], ["max_tokens", 3]);
});

await check("system as text and as blocks, and a turn that is begun", async () => {
  const count = async (system: Parameters<typeof client.messages.countTokens>[0]["system"]) =>
    (await client.messages.countTokens({ model: "any", messages: asking("hi").messages, ...(system && { system }) }))
      .input_tokens;
  const text = await count("Be brief.");
  equal(await count([{ type: "text", text: "Be brief.", cache_control: { type: "ephemeral" } }]), text);
  ok(text > (await count(undefined)), "system is not counted");
  const begun = { role: "assistant" as const, content: "The capital of" };
  const message = await client.messages.create({
    ...asking(CAPITAL),
    messages: [...asking(CAPITAL).messages, begun],
  });
  equal(textOf(message), " France is Paris.");
});

await check("countTokens counts what create computes", async () => {
  const { model, messages } = asking(CAPITAL);
  const counted = await client.messages.countTokens({ model, messages });
  equal(counted.input_tokens, promptTokens(await client.messages.create(asking(CAPITAL))));
  const beta = await client.beta.messages.countTokens({ model, messages });
  equal(beta.input_tokens, counted.input_tokens);
});

const thinking = { ...asking(ADDITION), thinking: { type: "enabled" as const, budget_tokens: 1024 }, max_tokens: 2000 };

await check("thinking: a block before the answer, whole and streamed", async () => {
  const whole = await client.messages.create(thinking);
  same(
    whole.content.map(({ type }) => type),
    ["thinking", "text"],
  );
  equal(textOf(whole), ADDITION_ANSWER);
  ok(thoughtsOf(whole).includes("42"), "no thoughts");
  const stream = client.messages.stream(thinking);
  let told = "";
  stream.on("thinking", (delta) => (told += delta));
  const final = await stream.finalMessage();
  equal(told, thoughtsOf(whole));
  same(final.content, whole.content);
});

await check("thinking goes back with the conversation; without it there is none", async () => {
  const first = await client.messages.create(thinking);
  const next = { role: "user" as const, content: CAPITAL };
  const messages = [...thinking.messages, { role: "assistant" as const, content: first.content }, next];
  equal(textOf(await client.messages.create({ ...asking(""), messages })), CAPITAL_ANSWER);
  for (const off of [{}, { thinking: { type: "disabled" as const } }]) {
    equal(thoughtsOf(await client.messages.create({ ...asking(ADDITION), ...off })), "");
  }
});

await check("an image is seen: another one changes the answer, its tokens are counted", async () => {
  const see = (data: string) =>
    vision.messages.create({
      ...asking([
        { type: "image", source: { type: "base64", media_type: "image/png", data } },
        { type: "text", text: "What is this?" },
      ]),
      max_tokens: 16,
    });
  const [one, same_, other] = [await see(IMAGE), await see(IMAGE), await see(OTHER_IMAGE)];
  equal(textOf(same_), textOf(one));
  ok(textOf(other) !== textOf(one), "two images gave one answer");
  const blind = await vision.messages.create({ ...asking("What is this?"), max_tokens: 1 });
  ok(promptTokens(one) > promptTokens(blind), "the image has no tokens");
});

await messageToolChecks(sdk);
await failureChecks({
  errors: Anthropic,
  ask: (server, prompt, extra, options) =>
    sdk[server].messages.create({ ...asking(prompt), max_tokens: 20_000, ...extra } as never, options),
  stream: (server, prompt) => sdk[server].messages.create({ ...asking(prompt), max_tokens: 20_000, stream: true }),
  wrong: { temperature: "warm" },
  lost: () => client.get("/v1/nothing/here"),
  detailsOf: (thrown) => {
    const { error, requestID } = thrown as InstanceType<typeof Anthropic.APIError>;
    const { param, code } = Reflect.get(error ?? {}, "error");
    return { param, code, requestId: requestID };
  },
});
summary();
