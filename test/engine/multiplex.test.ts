// Batches with a real model: each item gets the answer that it would get alone, and shared prefixes are computed
// once.

import { expect, setDefaultTimeout, test } from "bun:test";
import { sharedServer } from "../support/shared-server.ts";
import { assembleMultiplex } from "../support/streams/multiplex.ts";

setDefaultTimeout(60_000);

const server = sharedServer("--ctx", "8192", "--parallel", "4", "--threads", "1");

const post = (path: string, body: object) => server.post(path, body);
const batch = async (bodies: readonly object[]) => {
  const requests = bodies.map((body, index) => ({ custom_id: `item ${index}`, body }));
  const response = await post("/v1/batch/completions", { requests });
  expect(response.status).toBe(200);
  return assembleMultiplex(await response.text());
};
const ask = (content: string, more: object = {}) => ({
  messages: [{ role: "user", content }],
  temperature: 0,
  max_tokens: 24,
  ...more,
});

test("items of every kind are answered as if they were alone", async () => {
  const schema = {
    type: "object",
    properties: { n: { type: "integer" } },
    required: ["n"],
    additionalProperties: false,
  };
  const tool = { type: "function", function: { name: "get_weather", parameters: { type: "object", properties: {} } } };
  const bodies = [
    ask("What is the capital of France?"),
    ask("What is the capital of Italy?", { stream: true }),
    ask("Give me a number.", { response_format: { type: "json_schema", json_schema: { strict: true, schema } } }),
    ask("What is the weather?", { tools: [tool], tool_choice: "required", stream: true }),
    ask("Say hello.", { logprobs: true, top_logprobs: 2, n: 2, stream: true }),
    ask("What is 12 + 30?", { reasoning_effort: "low", reasoning_budget_tokens: 8 }),
  ];
  const items = await batch(bodies);
  for (const [index, body] of bodies.entries()) {
    const alone = (await (await post("/v1/chat/completions", { ...body, stream: false })).json()) as {
      readonly choices: readonly { readonly message: { readonly tool_calls?: readonly object[] } }[];
    };
    const choices = items.get(`item ${index}`)?.body?.choices;
    // Call ids are random.
    const plain = (value: unknown) => JSON.stringify(value, (key, part) => (key === "id" ? "" : part));
    const texts = (all: typeof choices | typeof alone.choices) => plain(all?.map(({ message }) => message));
    expect(texts(choices)).toBe(texts(alone.choices));
  }
});

test("64 items with a shared prefix compute that prefix once", async () => {
  const shared = "The capital of France is Paris, and the capital of Italy is Rome. ".repeat(20);
  const items = await batch(
    Array.from({ length: 64 }, (_, n) => ask(`${shared}Say ${n}.`, { max_tokens: 4, stream: n % 2 === 0 })),
  );
  expect(items.size).toBe(64);
  const usages = [...items.values()].map(({ body }) => body?.usage);
  const computed = usages.map(
    (usage) => (usage?.prompt_tokens ?? 0) - (usage?.prompt_tokens_details.cached_tokens ?? 0),
  );
  const [longest = 0, ...others] = computed.toSorted((a, b) => b - a);
  const whole = usages[0]?.prompt_tokens ?? 0;
  expect(longest).toBeGreaterThan(whole / 2);
  for (const tokens of others) expect(tokens).toBeLessThan(whole / 4);
  await server.untilIdle(10_000);
});

test("a prompt that is too long fails only its own item", async () => {
  const items = await batch([ask("long ".repeat(9000)), ask("Say hello.", { stream: true })]);
  expect(items.get("item 0")).toMatchObject({
    objects: ["batch.error"],
    error: { code: "context_length_exceeded", type: "invalid_request_error" },
  });
  expect(items.get("item 1")?.body?.choices[0]?.finish_reason).toBeOneOf(["stop", "length"]);
});
