// Raw completions, and one question in every API, with the official TypeScript SDKs, unmodified, and a running svc:
// `bun completions.ts FOLDER`. The servers are those of `run.ts`.

import { loadAnthropicSdk } from "./anthropic-sdk.ts";
import { check, equal, ok, same, summary } from "./checks.ts";
import { dialectChecks } from "./dialects.ts";
import { failureChecks } from "./failures.ts";
import { loadSdk } from "./sdk.ts";

const folder = process.argv[2] ?? ".";
const sdk = await loadSdk(folder);
const { OpenAI, client, version } = sdk;
console.log(`openai ${version}, completions (TypeScript)`);

const asked = { model: "svc-mini", prompt: "Once upon a time", temperature: 0, max_tokens: 24 };
const story = { model: "any", max_tokens: 30_000 };

await check("a completion: text, reason, usage", async () => {
  const { choices, usage, object } = await client.completions.create(asked);
  ok(choices[0]?.text, "no text");
  equal(object, "text_completion");
  equal(choices[0]?.finish_reason, "length");
  equal(usage?.completion_tokens, 24);
  equal(usage?.total_tokens, (usage?.prompt_tokens ?? 0) + 24);
});

await check("a stream carries the same text; usage where it is asked for", async () => {
  const whole = await client.completions.create(asked);
  for (const include_usage of [true, false]) {
    const stream = await client.completions.create({ ...asked, stream: true, stream_options: { include_usage } });
    const chunks = await Array.fromAsync(stream);
    equal(chunks.map(({ choices }) => choices[0]?.text ?? "").join(""), whole.choices[0]?.text);
    equal(new Set(chunks.map(({ id }) => id)).size, 1);
    const last = chunks.at(-1);
    if (include_usage) same([last?.choices.length, last?.usage?.completion_tokens], [0, 24]);
    else equal(last?.choices[0]?.finish_reason, "length");
  }
});

await check("several prompts, n answers each, in order", async () => {
  const prompt = ["Once upon", "The sun"];
  const { choices } = await client.completions.create({ ...asked, prompt, n: 2, echo: true, max_tokens: 4 });
  same(
    choices.map(({ index, text }) => [index, prompt.findIndex((start) => text.startsWith(start))]),
    [0, 1, 2, 3].map((index) => [index, Math.floor(index / 2)]),
  );
});

await check("token ids as a prompt mean their text", async () => {
  const body = { text: asked.prompt };
  const { tokens } = (await client.post("/tokenize", { body })) as { tokens: number[] };
  const [text, ids] = await Promise.all([
    client.completions.create(asked),
    client.completions.create({ ...asked, prompt: tokens }),
  ]);
  equal(ids.choices[0]?.text, text.choices[0]?.text);
  equal(ids.usage?.prompt_tokens, text.usage?.prompt_tokens);
});

await check("stop, logprobs and seed", async () => {
  const whole = (await client.completions.create(asked)).choices[0]?.text ?? "";
  const stop = whole.slice(3, 6);
  const cut = (await client.completions.create({ ...asked, stop })).choices[0];
  same([cut?.text, cut?.finish_reason], [whole.slice(0, whole.indexOf(stop)), "stop"]);
  const { logprobs } = (await client.completions.create({ ...asked, logprobs: 2 })).choices[0] ?? {};
  equal(logprobs?.tokens?.join(""), whole);
  equal(logprobs?.token_logprobs?.length, 24);
  const draw = async (seed: number) =>
    (await client.completions.create({ ...asked, temperature: 1.5, seed })).choices[0]?.text;
  equal(await draw(7), await draw(7));
});

await dialectChecks(sdk, await loadAnthropicSdk(folder));
await failureChecks({
  errors: OpenAI,
  ask: (server, prompt, extra, options) =>
    sdk[server].completions.create({ ...story, prompt, ...extra } as never, options),
  stream: (server, prompt) => sdk[server].completions.create({ ...story, prompt, stream: true }),
  wrong: { temperature: "warm" },
  lost: () => client.get("/nothing/here"),
  detailsOf: (thrown) => {
    const error = thrown as InstanceType<typeof OpenAI.APIError>;
    const id = Reflect.get(error, "requestID") ?? Reflect.get(error, "request_id");
    return { param: error.param, code: error.code, requestId: id };
  },
});
summary();
