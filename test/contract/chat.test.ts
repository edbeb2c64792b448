import { describe, expect, test } from "bun:test";
import { ChatCompletion, ChatCompletionChunk } from "../../src/contract/chat.ts";
import { ErrorEnvelope } from "../../src/contract/errors.ts";
import { checker } from "../../src/contract/schema.ts";
import { SvcError } from "../../src/domain/errors.ts";
import type { FakeScript } from "../support/fake-text-engine.ts";
import { expectGolden } from "../http/golden.ts";
import { hello, serve } from "../http/harness.ts";
import { crash, token } from "./scripts.ts";

const withLogprobs: FakeScript = {
  steps: [
    { text: "Hi", logprobs: [token("Hi", -0.25)] },
    { text: " there", logprobs: [token(" the", -0.5), token("re", -0.125)] },
  ],
  reason: "length",
};
const unicode: FakeScript = { steps: [{ text: "Grüße, 世界 " }, { text: '👩‍👩‍👧 "quoted"\n\u2028\u0000end' }] };
const id = { "x-request-id": "golden" };

const checkCompletion = checker(ChatCompletion);
const checkChunk = checker(ChatCompletionChunk);
const checkError = checker(ErrorEnvelope);

/** Returns the data of each event; every event must be one `data:` line. */
function events(body: string): string[] {
  expect(body.endsWith("\n\n")).toBe(true);
  return body
    .slice(0, -2)
    .split("\n\n")
    .map((event) => {
      expect(event).toStartWith("data: ");
      expect(event).not.toContain("\n");
      return event.slice(6);
    });
}

describe("chat completion as JSON", () => {
  const rows: readonly (readonly [name: string, script: FakeScript, body: Record<string, unknown>])[] = [
    ["chat.json", hello, {}],
    ["chat-unicode.json", unicode, { stream: false }],
    ["chat-logprobs.json", withLogprobs, { logprobs: true, top_logprobs: 2 }],
  ];
  test.each(rows)("%s", async (name, script, body) => {
    const response = await serve(script).chat(body, id);
    expect(response.headers.get("content-type")).toStartWith("application/json");
    const text = await response.text();
    checkCompletion(JSON.parse(text));
    await expectGolden(name, text);
  });

  test("is sent for stream: true when the server does not stream", async () => {
    const response = await serve(hello, { streaming: false }).chat({ stream: true }, id);
    expect(response.headers.get("content-type")).toStartWith("application/json");
    await expectGolden("chat.json", await response.text());
  });
});

describe("a strict schema that is not fully enforced", () => {
  const schema = { type: "object", properties: { n: { multipleOf: 7 } } };
  const format = (strict: boolean) => ({
    response_format: { type: "json_schema", json_schema: { name: "n", strict, schema } },
  });

  test.each([true, false])("is reported in a header, with the stream as %s", async (stream) => {
    const told = await serve(hello).chat({ stream, ...format(true) }, id);
    expect(told.headers.get("x-grammar-constraints")).toBe("downgraded");
    await told.text();
    for (const body of [format(false), { response_format: { type: "json_object" } }, {}]) {
      const silent = await serve(hello).chat({ stream, ...body }, id);
      expect([silent.status, silent.headers.get("x-grammar-constraints")]).toEqual([200, null]);
      await silent.text();
    }
  });
});

describe("several answers", () => {
  test("are choices of one stream, each finished once, with one usage for all", async () => {
    const response = await serve(hello).chat({ stream: true, n: 3 }, id);
    const chunks = events(await response.text())
      .filter((data) => data !== "[DONE]")
      .map((data) => JSON.parse(data));
    chunks.forEach(checkChunk);
    const choices = chunks.flatMap((chunk) => chunk.choices);
    for (const index of [0, 1, 2]) {
      const own = choices.filter((choice) => choice.index === index);
      expect(own[0].delta.role).toBe("assistant");
      expect(own.filter((choice) => choice.finish_reason !== null).length).toBe(1);
      expect(own.at(-1).finish_reason).toBe("stop");
    }
    const usages = chunks.filter((chunk) => chunk.usage);
    expect(usages.length).toBe(1);
    expect(usages[0].usage).toMatchObject({ prompt_tokens: 12, completion_tokens: 6 });
  });

  test("all end when the request is cancelled", async () => {
    const server = serve({ steps: [{ text: "a" }, { wait: new Promise(() => {}) }] });
    const pending = server.chat({ n: 2 }, { "x-request-id": "two" });
    while (server.engine.live < 2) await Bun.sleep(5);
    expect((await server.post("/v1/chat/completions/two/cancel", "")).status).toBe(200);
    const { choices } = (await (await pending).json()) as { choices: { finish_reason: string }[] };
    expect(choices.map((choice) => choice.finish_reason)).toEqual(["cancelled", "cancelled"]);
  });
});

describe("chat completion as a stream", () => {
  const rows: readonly (readonly [name: string, script: FakeScript, body: Record<string, unknown>])[] = [
    ["chat.sse", hello, {}],
    ["chat-with-usage.sse", hello, { stream_options: { include_usage: true } }],
    ["chat-without-usage.sse", hello, { stream_options: { include_usage: false } }],
    ["chat-unicode.sse", unicode, {}],
    ["chat-logprobs.sse", withLogprobs, { logprobs: true, top_logprobs: 2 }],
    ["chat-failed-unexpectedly.sse", { steps: [{ text: "Hel" }, { fail: new Error("a native secret") }] }, {}],
  ];
  test.each(rows)("matches %s", async (name, script, body) => {
    const response = await serve(script).chat({ stream: true, ...body }, id);
    expect(response.status).toBe(200);
    const text = await response.text();
    const data = events(text);
    expect(data.at(-1)).toBe("[DONE]");
    expect(data.filter((item) => item === "[DONE]")).toHaveLength(1);
    for (const item of data.slice(0, -1)) checkChunk(JSON.parse(item));
    await expectGolden(name, text);
  });

  test("has exactly the headers that proxies and clients need", async () => {
    const response = await serve().chat({ stream: true }, id);
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    expect(response.headers.get("cache-control")).toBe("no-cache");
    expect(response.headers.get("x-accel-buffering")).toBe("no");
    expect(response.headers.get("x-request-id")).toBe("golden");
    expect(response.headers.get("compat-request-id")).toBe("golden");
    await response.text();
  });

  test("has the same text and the same log probabilities as the JSON answer", async () => {
    const server = serve(withLogprobs);
    const body = { logprobs: true, top_logprobs: 2 };
    const json = checkCompletion(await (await server.chat(body)).json());
    const data = events(await (await server.chat({ ...body, stream: true })).text());
    const choices = data.slice(0, -1).flatMap((item) => JSON.parse(item).choices);
    expect(choices.map((choice) => choice.delta.content ?? "").join("")).toBe(
      json.choices[0]?.message.content ?? "none",
    );
    expect(choices.flatMap((choice) => choice.logprobs?.content ?? [])).toEqual(
      json.choices[0]?.logprobs?.content ?? ["none"],
    );
  });

  test("has a constant id, created, model and fingerprint, with a new id for each request", async () => {
    const server = serve();
    const identities = [];
    for (let i = 0; i < 2; i++) {
      const chunks = events(await (await server.chat({ stream: true })).text())
        .slice(0, -1)
        .map((item) => JSON.parse(item));
      const own = new Set(
        chunks.map(({ id, created, model, system_fingerprint }) => [id, created, model, system_fingerprint].join()),
      );
      expect(own.size).toBe(1);
      expect(chunks[0].id).toStartWith("chatcmpl-");
      identities.push(chunks[0].id);
    }
    expect(identities[0]).not.toBe(identities[1]);
  });
});

describe("failures before the engine accepts", () => {
  const early = (fail: Error): FakeScript => ({ steps: [{ fail }, "accept"] });
  const full = new SvcError("context_length_exceeded", "The prompt has 9000 tokens; the limit is 4096.", {
    param: "messages",
  });
  const down = new SvcError("engine_unavailable", "The model engine is down.", { retryAfterSeconds: 7 });

  test.each([false, true])("keep their own status code (stream: %p)", async (stream) => {
    const rows = [
      [full, 400, "invalid_request_error", null, null],
      [down, 503, "server_error", "7", null],
      [crash, 500, "server_error", null, "false"],
      [new Error("a native secret"), 500, "server_error", null, "false"],
    ] as const;
    for (const [error, status, type, retryAfter, shouldRetry] of rows) {
      const server = serve(early(error));
      const response = await server.chat({ stream }, id);
      const text = await response.text();
      expect(response.status).toBe(status);
      expect(response.headers.get("content-type")).toStartWith("application/json");
      expect(response.headers.get("retry-after")).toBe(retryAfter);
      expect(response.headers.get("x-should-retry")).toBe(shouldRetry);
      expect(JSON.parse(text).error).toMatchObject({ type, request_id: "golden" });
      expect(text).not.toContain("secret");
      expect(server.engine.live).toBe(0);
    }
  });

  test("include a crash of the engine during a JSON answer, which yields no partial answer", async () => {
    const response = await serve({ steps: [{ text: "Hel" }, { fail: crash }] }).chat({});
    expect(response.status).toBe(500);
    expect(checkError(await response.json()).error.code).toBe("engine_crashed");
  });
});

describe("the model in an answer", () => {
  test("is the loaded model, whatever the request names", async () => {
    const server = serve();
    for (const model of ["gpt-99", "", null, undefined]) {
      expect(checkCompletion(await (await server.chat({ model })).json()).model).toBe("fake-model");
    }
  });
});
