import { describe, expect, test } from "bun:test";
import { ChatCompletion } from "../../src/contract/chat.ts";
import { ErrorEnvelope } from "../../src/contract/errors.ts";
import { checker } from "../../src/contract/schema.ts";
import { SvcError } from "../../src/domain/errors.ts";
import type { FakeScript } from "../support/fake-text-engine.ts";
import { expectGolden } from "../http/golden.ts";
import { hello, serve } from "../http/harness.ts";
import { assembleChat } from "../support/streams/chat.ts";
import { crash, scripts } from "./scripts.ts";

const id = { "x-request-id": "golden" };

const checkCompletion = checker(ChatCompletion);
const checkError = checker(ErrorEnvelope);

describe("chat completion as JSON", () => {
  test("is sent for stream: true when the server does not stream", async () => {
    const response = await serve(scripts.text, { streaming: false }).chat({ stream: true }, id);
    expect(response.headers.get("content-type")).toStartWith("application/json");
    await expectGolden("chat-text.json", await response.text());
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
  test.each<[string, FakeScript, object]>([
    ["chat-without-usage.sse", hello, { stream_options: { include_usage: false } }],
    ["chat-failed-unexpectedly.sse", { steps: [{ text: "Hel" }, { fail: new Error("a native secret") }] }, {}],
  ])("matches %s", async (name, script, body) => {
    const text = await (await serve(script).chat({ stream: true, ...body }, id)).text();
    assembleChat(text);
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

  test("has a new id for each request", async () => {
    const server = serve();
    const ask = async () => /"chatcmpl-\w+"/.exec(await (await server.chat({ stream: true })).text())?.[0];
    const first = await ask();
    expect(first).toBeString();
    expect(await ask()).not.toBe(first);
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
