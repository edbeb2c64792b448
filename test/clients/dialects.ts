// One question in every API, streamed or not, with the SDK of each: the same text and the same counts.

import type { AnthropicSdk } from "./anthropic-sdk.ts";
import { check, same } from "./checks.ts";
import { CAPITAL, CAPITAL_ANSWER } from "./prompts.ts";
import { outputText, type Sdk } from "./sdk.ts";

interface Answer {
  readonly text: string;
  readonly prompt: number | undefined;
  readonly completion: number | undefined;
}

const common = { model: "svc-mini", temperature: 0 };
const messages = [{ role: "user" as const, content: CAPITAL }];

export async function dialectChecks(openai: Sdk, anthropic: AnthropicSdk): Promise<void> {
  const ways = [...chatWays(openai), ...responsesWays(openai), ...messagesWays(anthropic), ...completionsWays(openai)];
  await check("the same words and counts in every dialect, streamed or not", async () => {
    const [first, ...others] = await Promise.all(ways.map((way) => way()));
    same(first?.text, CAPITAL_ANSWER);
    for (const other of others) same(other, first);
  });
}

function chatWays({ client, helpers }: Sdk): (() => Promise<Answer>)[] {
  const read = ({
    choices,
    usage,
  }: {
    readonly choices: readonly { readonly message: { readonly content: string | null } }[];
    readonly usage?: { readonly prompt_tokens: number; readonly completion_tokens: number } | null;
  }): Answer => ({
    text: choices[0]?.message.content ?? "",
    prompt: usage?.prompt_tokens,
    completion: usage?.completion_tokens,
  });
  return [
    async () => read(await client.chat.completions.create({ ...common, messages })),
    async () => read(await helpers.stream({ ...common, messages }).finalChatCompletion()),
  ];
}

function responsesWays({ client }: Sdk): (() => Promise<Answer>)[] {
  const asked = { ...common, input: CAPITAL };
  const read = (response: Awaited<ReturnType<typeof client.responses.retrieve>>): Answer => ({
    text: outputText(response),
    prompt: response.usage?.input_tokens,
    completion: response.usage?.output_tokens,
  });
  return [
    async () => read(await client.responses.create(asked)),
    async () => read(await client.responses.stream(asked).finalResponse()),
  ];
}

function messagesWays({ client }: AnthropicSdk): (() => Promise<Answer>)[] {
  const asked = { ...common, max_tokens: 100, messages };
  const read = ({
    content,
    usage,
  }: Awaited<ReturnType<ReturnType<typeof client.messages.stream>["finalMessage"]>>) => ({
    text: content.map((block) => (block.type === "text" ? block.text : "")).join(""),
    prompt: usage.input_tokens + (usage.cache_read_input_tokens ?? 0),
    completion: usage.output_tokens,
  });
  return [
    async () => read((await client.messages.create(asked)) as never),
    async () => read(await client.messages.stream(asked).finalMessage()),
  ];
}

/** The ids of svc-mini's special tokens, which text cannot express. */
const START = 1;
const END = 2;
const THINK = 3;
const THOUGHT = 4;

function completionsWays({ client }: Sdk): (() => Promise<Answer>)[] {
  const ids = async (text: string) =>
    ((await client.post("/tokenize", { body: { text } })) as { tokens: number[] }).tokens;
  /** Returns the question as rendered by svc-mini's template. */
  const rendered = async () => {
    const [user, question, assistant] = await Promise.all(["user\n", CAPITAL, "assistant\n"].map(ids));
    const [line, empty] = await Promise.all(["\n", "\n\n"].map(ids));
    const thought = [THINK, ...(empty ?? []), THOUGHT, ...(empty ?? [])];
    return [START, user, question, END, line, START, assistant, thought].flatMap((part) => part ?? []);
  };
  return [false, true].map((stream) => async () => {
    const asked = { ...common, prompt: await rendered(), max_tokens: 100 };
    const chunks = stream
      ? await Array.fromAsync(
          await client.completions.create({ ...asked, stream: true, stream_options: { include_usage: true } }),
        )
      : [await client.completions.create(asked)];
    const { usage } = chunks.at(-1) ?? {};
    const text = chunks.map(({ choices }) => choices[0]?.text ?? "").join("");
    return { text, prompt: usage?.prompt_tokens, completion: usage?.completion_tokens };
  });
}
