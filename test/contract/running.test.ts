// What streams report before the end of an answer, on request, and when they fail.

import { describe, expect, test } from "bun:test";
import { ChatCompletionChunk } from "../../src/contract/chat.ts";
import { Completion } from "../../src/contract/completions.ts";
import { checker } from "../../src/contract/schema.ts";
import { SvcError } from "../../src/domain/errors.ts";
import { serve } from "../http/harness.ts";
import { assembleChat } from "../support/streams/chat.ts";
import { serverSentEvents } from "../support/streams/events.ts";
import type { FakeScript } from "../support/fake-text-engine.ts";
import { expectGolden } from "../http/golden.ts";

const script: FakeScript = {
  steps: [
    { type: "progress", total: 12, cached: 4, processed: 8, ms: 3 },
    { type: "progress", total: 12, cached: 4, processed: 12, ms: 5 },
    { type: "text", text: "one" },
    { type: "text", text: " two three", sampled: 3 },
  ],
  usage: { completionTokens: 4 },
};
const messages = [{ role: "user", content: "hi" }];
const everything = {
  stream_options: { include_usage: true, continuous_usage_stats: true },
  timings_per_token: true,
  return_progress: true,
};

const stream = async (path: string, body: object) => (await serve(script).post(path, { ...body, stream: true })).text();

const dialects = [
  ["chat", "/v1/chat/completions", { messages }, checker(ChatCompletionChunk)],
  ["completions", "/v1/completions", { prompt: "Once", max_tokens: 9 }, checker(Completion)],
] as const;

describe.each(dialects)("a stream of %s", (name, path, body, check) => {
  const chunksOf = async (asked: object) => {
    const text = await stream(path, { ...body, ...asked });
    const data = serverSentEvents(text).map((event) => event.data);
    return { text, chunks: data.filter((one) => one !== "[DONE]").map((one) => check(JSON.parse(one))) };
  };

  test("reports counts, timings and prompt progress on request", async () => {
    const { text, chunks } = await chunksOf(everything);
    expect(chunks.flatMap((chunk) => chunk.prompt_progress?.processed ?? [])).toEqual([8, 12]);
    const written = chunks.filter((chunk) => chunk.usage && chunk.choices.length > 0);
    expect(written.map((chunk) => chunk.usage)).toEqual([
      { prompt_tokens: 12, completion_tokens: 1, total_tokens: 13 },
      { prompt_tokens: 12, completion_tokens: 4, total_tokens: 16 },
    ]);
    expect(written.map(({ timings }) => [timings?.cache_n, timings?.prompt_n, timings?.predicted_n])).toEqual([
      [4, 8, 1],
      [4, 8, 4],
    ]);
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { completion_tokens: 4 } });
    await expectGolden(`${name}-running.sse`, text.replaceAll(/"(\w+_(?:ms|second))":[\d.]+/g, '"$1":0'));
  });

  test("ends with timings: next to the usage, otherwise in the last chunk of each answer", async () => {
    for (const include_usage of [true, false]) {
      const { chunks } = await chunksOf({ n: 2, stream_options: { include_usage } });
      const timed = chunks.filter(({ timings }) => timings !== undefined);
      expect(timed.map(({ choices, usage, timings }) => [choices.length, !!usage, timings?.predicted_n])).toEqual(
        include_usage
          ? [[0, true, 8]]
          : [
              [1, false, 4],
              [1, false, 4],
            ],
      );
      expect(timed.every(({ choices }) => choices.every(({ finish_reason }) => finish_reason === "stop"))).toBe(true);
    }
  });

  test("reports each independently, and nothing without a request", async () => {
    const reported = async (asked: object) => {
      const { chunks } = await chunksOf(asked);
      const pieces = chunks.filter(({ choices }) => choices.length > 0 && choices[0]?.finish_reason === null);
      const inside = pieces.flatMap((chunk) => Object.keys(chunk));
      return ["usage", "timings", "prompt_progress"].filter((field) => inside.includes(field));
    };
    expect(await reported({})).toEqual([]);
    expect(await reported({ stream_options: { include_usage: true } })).toEqual([]);
    expect(await reported({ stream_options: { include_usage: false, continuous_usage_stats: true } })).toEqual([]);
    expect(await reported({ stream_options: everything.stream_options })).toEqual(["usage"]);
    expect(await reported({ timings_per_token: true })).toEqual(["timings"]);
    expect(await reported({ return_progress: true })).toEqual(["prompt_progress"]);
  });
});

test("a reporting stream of chat keeps the order of every stream", async () => {
  const { body } = assembleChat(await stream("/v1/chat/completions", { messages, n: 2, ...everything })) as {
    readonly body: { readonly choices: readonly { readonly message: { readonly content: string | null } }[] };
  };
  expect(body.choices.map(({ message }) => message.content)).toEqual(["one two three", "one two three"]);
});

test.each([
  ["/v1/chat/completions", { messages }, ChatCompletionChunk],
  ["/v1/completions", { prompt: "Once" }, Completion],
])(
  "the schema of the chunks of %s has every member of the one with which a stream fails",
  async (path, body, schema) => {
    const server = serve({ steps: [{ text: "one" }, { fail: new SvcError("engine_crashed", "gone") }] });
    const text = await (await server.post(path, { ...body, stream: true })).text();
    const chunk = JSON.parse(serverSentEvents(text).at(-2)?.data ?? "") as { readonly error: object };
    expect(chunk.error).toMatchObject({ code: "engine_crashed", message: "gone" });
    expect(Object.keys(schema.properties)).toEqual(expect.arrayContaining(Object.keys(chunk)));
    expect(Object.keys(schema.properties.error.properties)).toEqual(Object.keys(chunk.error));
  },
);

test("a whole answer ignores these fields, and raw completions ignore fields of other routes", async () => {
  const server = serve(script);
  expect((await server.post("/v1/chat/completions", { messages, ...everything })).status).toBe(200);
  expect((await server.post("/v1/completions", { prompt: "Once", max_tokens: 9, ...everything })).status).toBe(200);
  expect((await server.post("/v1/completions", { prompt: "Once", max_completion_tokens: "secret" })).status).toBe(200);
  for (const field of ["counted", "returnProgress"]) {
    for (const request of server.engine.requests) expect(request).not.toHaveProperty(field);
  }
});
