// A real model with a draft model beside it: every answer is what it is without, however often the drafts are right.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { makeRecurrentModel } from "../models/make-recurrent-model.ts";
import { makeVisionModel } from "../models/make-vision-model.ts";
import { scrambledModel } from "../models/scrambled-model.ts";
import { MODEL } from "../native/harness.ts";
import { streamChat } from "../support/chat-client.ts";
import { parseExposition } from "../support/exposition.ts";
import { metricValue } from "../support/metrics-text.ts";
import { FROM_SOURCE, startServer, type ServerProcess } from "../support/server.ts";

const MODELS = join(import.meta.dir, "../../vendor/.build/models");
const COMMON = ["--model", MODEL, "--threads", "1"];
const EIGHT = [...COMMON, "--ctx", "4096", "--parallel", "8"];
/** The engine tells its counts about once a second. */
const TOLD_MS = 1500;

const say = (content: string) => [{ role: "user", content }];
const CAPITAL = say("What is the capital of France?");
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
const requests: Readonly<Record<string, object>> = {
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

async function ask(server: ServerProcess, body: object): Promise<Body> {
  const response = await fetch(`${server.url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  expect(response.status).toBe(200);
  return (await response.json()) as Body;
}

/** What a client sees of an answer; of log probabilities the tokens, because their values depend on the batch. */
const seen = ({ choices, usage }: Body) => ({
  choices: choices.map(({ message, finish_reason, logprobs }) => ({
    content: message.content,
    finish_reason,
    tokens: logprobs?.content.map(({ token }) => token),
  })),
  completion: usage.completion_tokens,
});
type Seen = ReturnType<typeof seen>;

const metrics = async (server: ServerProcess) => (await fetch(`${server.url}/metrics`)).text();

/** Counts of guesses by the draft model. */
async function counts(server: ServerProcess) {
  await Bun.sleep(TOLD_MS);
  const samples = [...parseExposition(await metrics(server)).values()].flatMap((family) => family.samples);
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

let plain: ServerProcess;
const expected = new Map<string, Seen>();
beforeAll(async () => {
  plain = await startServer([...EIGHT, "--no-speculation"]);
  for (const [name, body] of Object.entries(requests)) expected.set(name, seen(await ask(plain, body)));
}, 120_000);
afterAll(() => plain.stop());

describe.each([
  ["the model itself", "unified", MODEL],
  ["the model itself", "streams", MODEL],
  ["one that is never right", "unified", scrambledModel(MODEL, MODELS)],
] as const)("the draft model is %s, %s KV cache", (_, layout, draft) => {
  let server: ServerProcess;
  beforeAll(async () => {
    const flags = ["--draft", draft, "--no-draft-adaptive", "--draft-max", "5", "--kv-mode", layout];
    server = await startServer([...EIGHT, ...flags]);
  }, 120_000);
  afterAll(() => server.stop());

  test.each(Object.keys(requests))(
    "%s",
    async (name) => {
      expect(seen(await ask(server, requests[name] ?? {}))).toEqual(expected.get(name) as Seen);
    },
    120_000,
  );

  test("several at once, one of which leaves", async () => {
    const leaving = new AbortController();
    const left = streamChat(server.url, { messages: say("Tell me a long story."), max_tokens: 400 }, leaving);
    const others = ["greedy", "longer", "a schema", "a token limit within a draft", "a stop sequence within a draft"];
    const answers = Promise.all(others.map((name) => ask(server, requests[name] ?? {})));
    setTimeout(() => leaving.abort(), 100);
    await left.catch(() => {});
    expect((await answers).map(seen)).toEqual(others.map((name) => expected.get(name) as Seen));
    await server.untilIdle(10_000);
  }, 120_000);

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
  }, 120_000);
});

test("a draft model that does not pay is hardly asked", async () => {
  const server = await startServer([...EIGHT, "--draft", scrambledModel(MODEL, MODELS), "--draft-max", "5"]);
  try {
    const names = ["longer", "greedy", "a schema", "longer", "longer", "longer"];
    let said = 0;
    for (const name of names) {
      const answer = seen(await ask(server, requests[name] ?? {}));
      expect(answer).toEqual(expected.get(name) as Seen);
      said += answer.completion;
    }
    expect((await counts(server)).tokens).toBeLessThan(0.3 * said);
  } finally {
    await server.stop();
  }
}, 120_000);

test("requests that give their room back are drafted for again", async () => {
  const flags = ["--parallel", "4", "--ctx", "512", "--kv-mode", "unified", "--draft", MODEL, "--no-draft-adaptive"];
  const server = await startServer([...COMMON, ...flags]);
  try {
    const story = (at: number) => say(`Tell me story number ${at}.`);
    const body = (at: number) => ({ messages: story(at), temperature: 0, max_tokens: 200, ignore_eos: true });
    const answers = await Promise.all([1, 2, 3, 4].map((at) => ask(server, body(at))));
    for (const { usage } of answers) expect(usage.completion_tokens).toBe(200);
    expect(metricValue(await metrics(server), "svc_num_preemptions_total")).toBeGreaterThan(0);
    await server.untilIdle(10_000);
  } finally {
    await server.stop();
  }
}, 120_000);

test("a draft model that does not fit is refused at start, in words", async () => {
  const { model } = makeVisionModel("tiles", MODELS);
  const child = Bun.spawn([...FROM_SOURCE, ...COMMON, "--draft", model, "--port", "0"], {
    stdin: "ignore",
    stdout: "ignore",
    stderr: "pipe",
  });
  const [text, status] = await Promise.all([child.stderr.text(), child.exited]);
  expect(status).toBe(3);
  expect(text).toContain(`the draft model ${model} does not have the model's vocabulary`);
}, 120_000);

test("a recurrent model that repeats itself goes on to its limit: nothing is guessed for it", async () => {
  const server = await startServer(["--model", makeRecurrentModel(MODELS), "--threads", "1", "--ctx", "2048"]);
  try {
    // Two tokens that take turns for a while, and then not: a wrong guess would have to be taken back.
    const body = { messages: CAPITAL, temperature: 1, seed: 5, max_tokens: 200, ignore_eos: true };
    const { usage } = await ask(server, { ...body, logit_bias: { "70": 60, "71": 60 } });
    expect(usage.completion_tokens).toBe(200);
    expect((await server.health()).engine.restarts).toBe(0);
  } finally {
    await server.stop();
  }
}, 120_000);
