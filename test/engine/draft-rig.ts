// What tests of draft models have in common: requests that meet a draft in every way, and their answers without one.

import { beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { MODEL } from "../native/harness.ts";
import { streamChat } from "../support/chat-client.ts";
import { parseExposition } from "../support/exposition.ts";
import { metricValue } from "../support/metrics-text.ts";
import { startServer, type ServerProcess } from "../support/server.ts";
import { sharedServer } from "../support/shared-server.ts";
import { until } from "../support/until.ts";

export const MODELS = join(import.meta.dir, "../../vendor/.build/models");
export const COMMON = ["--model", MODEL, "--threads", "1"];
export const EIGHT = [...COMMON, "--ctx", "4096", "--parallel", "8"];

export const say = (content: string) => [{ role: "user", content }];
export const CAPITAL = say("What is the capital of France?");
/** Long, and the model is sure of each token: sums that batches of another shape move a little change none. */
const MONTHS = say("List the months of the year.");
const schema = {
  type: "object",
  properties: { name: { type: "string" }, age: { type: "integer" } },
  required: ["name", "age"],
  additionalProperties: false,
};
const response_format = { type: "json_schema", json_schema: { name: "person", strict: true, schema } };

/** Requests that meet a draft in every way. */
export const requests: Readonly<Record<string, object>> = {
  greedy: { messages: CAPITAL, temperature: 0 },
  longer: { messages: MONTHS, temperature: 0, max_tokens: 60 },
  seeded: { messages: MONTHS, temperature: 0.8, seed: 7, max_tokens: 24 },
  "a token limit within a draft": { messages: MONTHS, temperature: 0, max_tokens: 7 },
  "one token": { messages: CAPITAL, temperature: 0, max_tokens: 1 },
  "a stop sequence within a draft": { messages: CAPITAL, temperature: 0, stop: ["France"] },
  "log probabilities": { messages: CAPITAL, temperature: 0, logprobs: true, top_logprobs: 2 },
  "a schema": { messages: say("Bob is 42 years old."), temperature: 0, response_format },
  "a penalty": { messages: MONTHS, temperature: 0, repetition_penalty: 1.3, max_tokens: 30 },
  "two answers": { messages: say("What is 12 + 30?"), temperature: 0, n: 2 },
};

interface Body {
  readonly choices: readonly {
    readonly message: { readonly content: string };
    readonly finish_reason: string;
    readonly logprobs?: { readonly content: readonly { readonly token: string }[] } | null;
  }[];
  readonly usage: { readonly completion_tokens: number };
}

export async function ask(server: ServerProcess, body: object): Promise<Body> {
  const response = await server.post("/v1/chat/completions", body);
  expect(response.status).toBe(200);
  return (await response.json()) as Body;
}

/** What a client sees of an answer; of log probabilities the tokens, because their values depend on the batch. */
export const seen = ({ choices, usage }: Body) => ({
  choices: choices.map(({ message, finish_reason, logprobs }) => ({
    content: message.content,
    finish_reason,
    tokens: logprobs?.content.map(({ token }) => token),
  })),
  completion: usage.completion_tokens,
});
export type Seen = ReturnType<typeof seen>;

/** Counts of guesses by the draft model, up to the last answer. */
export async function counts(server: ServerProcess) {
  const steps = async () => metricValue(await server.metrics(), "svc_engine_step_rows_total");
  const before = await steps();
  // The engine tells its counts about once a second; what it tells after one more step is all that came before.
  await ask(server, requests["one token"] ?? {});
  await until(async () => (await steps()) > before);
  const samples = [...parseExposition(await server.metrics()).values()].flatMap((family) => family.samples);
  const read = (name: string, position?: string) =>
    samples.find(
      (sample) =>
        sample.name === `svc_spec_decode_num_${name}_total` &&
        sample.labels["source"] === "draft" &&
        sample.labels["position"] === position,
    )?.value ?? 0;
  return {
    drafts: read("drafts"),
    tokens: read("draft_tokens"),
    accepted: read("accepted_tokens"),
    first: read("accepted_tokens_per_pos", "0"),
  };
}

/** What is answered without a draft model, from before the first test of a file. */
export function expectedAnswers(): ReadonlyMap<string, Seen> {
  const expected = new Map<string, Seen>();
  beforeAll(async () => {
    const plain = await startServer([...EIGHT, "--no-speculation"]);
    for (const [name, body] of Object.entries(requests)) expected.set(name, seen(await ask(plain, body)));
    await plain.stop();
  });
  return expected;
}

/** With this draft model, and cells laid out like this, every answer is what it is without. */
export function draftTests(expected: ReadonlyMap<string, Seen>, draft: string, layout: string): void {
  const flags = ["--draft", draft, "--no-draft-adaptive", "--draft-max", "5", "--kv-mode", layout];
  const server = sharedServer(...EIGHT, ...flags);

  test.each(Object.keys(requests))("%s", async (name) => {
    expect(seen(await ask(server, requests[name] ?? {}))).toEqual(expected.get(name) as Seen);
  });

  test("several at once, one of which leaves", async () => {
    const leaving = new AbortController();
    const left = streamChat(server.url, { messages: say("Tell me a long story."), max_tokens: 400 }, leaving);
    const others = ["greedy", "longer", "a schema", "a token limit within a draft", "a stop sequence within a draft"];
    const answers = Promise.all(others.map((name) => ask(server, requests[name] ?? {})));
    setTimeout(() => leaving.abort(), 100);
    await left.catch(() => {});
    expect((await answers).map(seen)).toEqual(others.map((name) => expected.get(name) as Seen));
    await server.untilIdle(10_000);
  });

  test("the counts tell how often it was right", async () => {
    const before = await counts(server);
    for (const name of ["greedy", "longer", "greedy"]) await ask(server, requests[name] ?? {});
    const after = await counts(server);
    const [drafts, tokens] = [after.drafts - before.drafts, after.tokens - before.tokens];
    const [accepted, first] = [after.accepted - before.accepted, after.first - before.first];
    expect(drafts).toBeGreaterThan(5);
    expect(tokens).toBeGreaterThan(drafts);
    if (draft === MODEL) expect(accepted / tokens).toBeGreaterThan(0.95);
    else expect(accepted / tokens).toBeLessThan(0.05);
    expect(first).toBeLessThanOrEqual(Math.min(drafts, accepted));
  });
}
