import { describe, expect, test } from "bun:test";
import { ErrorEnvelope } from "../../src/contract/errors.ts";
import { checker } from "../../src/contract/schema.ts";
import { SvcError } from "../../src/domain/errors.ts";
import type { GenerateRequest } from "../../src/domain/generate.ts";
import type { FakeScript } from "../support/fake-text-engine.ts";
import { crash, scripts, type ScriptName } from "../contract/scripts.ts";
import { helloStream, serverOf } from "../gateway/fixture-server.ts";
import { remote } from "../gateway/remote.ts";
import { assembleMultiplex } from "../support/streams/multiplex.ts";
import { until } from "../support/until.ts";
import { expectGolden } from "./golden.ts";
import { hello, isDraining, messages, serve, type TestServer } from "./harness.ts";
import { RawClient } from "./raw.ts";

const path = "/v1/batch/completions";
const never = new Promise<void>(() => {});
const checkError = checker(ErrorEnvelope);

type Body = Readonly<Record<string, unknown>>;
const item = (custom_id: string, body: Body = {}) => ({ custom_id, body: { messages, ...body } });
const said = (content: string) => [{ role: "user", content }];
const items = (count: number, body: Body = {}) => Array.from({ length: count }, (_, n) => item(`i${n}`, body));

const textOf = ({ messages: [first] }: GenerateRequest): string => String(first?.content);
/** Answers each request with the script that its message names. */
const byName = (request: GenerateRequest): FakeScript => scripts[textOf(request) as ScriptName] as FakeScript;

const ask = (server: TestServer, requests: readonly unknown[], headers = {}) =>
  server.post(path, { requests }, headers);
const answers = async (response: Promise<Response> | Response) => assembleMultiplex(await (await response).text());
const cancel = (server: TestServer, id: string) =>
  server.post(`/v1/chat/completions/${encodeURIComponent(id)}/cancel`, "");

async function isIdle(server: TestServer): Promise<void> {
  await until(() => server.engine.live === 0 && server.requests.activeCount === 0 && server.metrics.connections === 0);
  expect(server.requests.registeredCount).toBe(0);
}

describe("POST /v1/batch/completions", () => {
  const tools = [{ type: "function", function: { name: "weather", parameters: { type: "object" } } }];

  test("answers each item as a chat completion, in one stream", async () => {
    const server = serve(byName, { parallel: 1 });
    const response = await ask(
      server,
      [
        item("text", { messages: said("text"), stream: true }),
        item("whole", { messages: said("text") }),
        item("tools", { messages: said("two-tool-calls"), tools, reasoning_effort: "low", stream: true }),
        item("logprobs", { messages: said("logprobs"), logprobs: true, top_logprobs: 2, stream: true }),
        item('length "ü"', { messages: said("length"), n: 2 }),
        item("no usage", { messages: said("text"), stream: true, stream_options: { include_usage: false } }),
        item("failed", { messages: said("failed"), stream: true }),
      ],
      { "x-request-id": "golden" },
    );
    const { headers } = response;
    expect([response.status, headers.get("content-type")]).toEqual([200, "text/event-stream"]);
    expect([headers.get("cache-control"), headers.get("x-accel-buffering")]).toEqual(["no-cache", "no"]);
    expect([headers.get("x-request-id"), headers.get("compat-request-id")]).toEqual(["golden", "golden"]);
    expect(headers.get("x-grammar-constraints")).toBeNull();
    const text = await response.text();
    const byItem = assembleMultiplex(text);
    expect(byItem.size).toBe(7);
    for (const [name, { body }] of byItem) {
      if (name === "failed") continue;
      expect(body?.choices.map((choice) => choice.finish_reason)).not.toContain("cancelled");
      expect([name, body?.usage !== undefined]).toEqual([name, name !== "no usage"]);
    }
    expect(byItem.get('length "ü"')?.body?.choices.map((choice) => choice.finish_reason)).toEqual(["length", "length"]);
    expect(byItem.get("failed")?.error).toMatchObject({
      code: crash.code,
      message: crash.message,
      request_id: "golden",
    });
    await isIdle(server);
    const log = server.log.lines.at(-1)?.fields;
    expect(log).toMatchObject({ route: path, items: 7, failed: 1, status: 200 });
  });

  test.each([
    ["text", { messages: said("text"), stream: true }],
    ["whole", { messages: said("text") }],
    ["tool-call", { messages: said("tool-call"), tools, stream: true }],
    ["logprobs", { messages: said("logprobs"), logprobs: true, top_logprobs: 1 }],
    ["failed", { messages: said("failed"), stream: true }],
  ] as const)("recorded: %s", async (name, body) => {
    const response = await ask(serve(byName), [item("one", body)], { "x-request-id": "golden" });
    await expectGolden(`multiplex-${name}.sse`, await response.text());
  });

  test("answers an item as the chat route does, plus its custom_id", async () => {
    const server = serve(byName);
    const plain = (text: string) => text.replace(/chatcmpl-\w+/g, "").replace(/"created":\d+/g, "");
    for (const stream of [true, false]) {
      const body = { messages: said("two-tool-calls"), tools, reasoning_effort: "low", stream };
      const alone = await (await server.chat(body)).text();
      const together = (await (await ask(server, [item("a", body)])).text()).replaceAll('"custom_id":"a",', "");
      const expected = stream ? alone : `data: ${alone}\n\ndata: [DONE]\n\n`;
      // The stream begins with a comment, so that its headers need not wait for the first item.
      expect(plain(together)).toBe(`: ping\n\n${plain(expected)}`);
    }
  });

  test("sends a long answer whole, in one event", async () => {
    const long = "x".repeat(500_000);
    const text = await (await ask(serve({ steps: [{ text: long }] }), [item("a"), item("b")])).text();
    const events = text.split("\n\n").filter((event) => event.startsWith("data: {"));
    const read = events.map((event) => JSON.parse(event.slice("data: ".length)));
    expect(read.map(({ custom_id: name }) => name).sort()).toEqual(["a", "b"]);
    expect(read.every(({ choices }) => choices[0].message.content === long)).toBe(true);
  });

  test("sends a profile with every item", async () => {
    const requests = [item("streamed", { stream: true }), item("whole")];
    const text = await (await ask(serve(), requests, { "x-svc-profile": "true" })).text();
    expect(assembleMultiplex(text).get("streamed")?.profile).toMatchObject({ custom_id: "streamed", svc_profile: {} });
    expect(text.match(/"svc_profile":\{/g)).toHaveLength(2);
    const wrong = await ask(serve(), requests, { "x-svc-profile": "yes" });
    expect([wrong.status, checkError(await wrong.json()).error.param]).toEqual([400, "X-Svc-Profile"]);
  });

  test("reports a strict schema that was not enforced, for the whole answer and for the item", async () => {
    const schema = { type: "object", properties: { n: { multipleOf: 7 } } };
    const strict = { response_format: { type: "json_schema", json_schema: { strict: true, schema } } };
    const response = await ask(serve(), [
      item("free"),
      item("whole", strict),
      item("held", { ...strict, stream: true }),
    ]);
    expect(response.headers.get("x-grammar-constraints")).toBe("downgraded");
    const byItem = await answers(response);
    expect([...byItem].map(([name, { downgraded }]) => `${name} ${downgraded}`).sort()).toEqual([
      "free false",
      "held true",
      "whole true",
    ]);
  });

  test.each([
    ["a model here", undefined, true, null],
    ["a model here without grammars", undefined, false, "downgraded"],
    ["a server that enforces schemas", "vllm", false, null],
    ["a server that may not", "someone", true, "downgraded"],
  ])("says at once whether a strict schema is enforced by %s", async (_, owner, constrain, expected) => {
    const beside = owner === undefined ? [] : [(await remote([serverOf(owner, helloStream).url])).gateway];
    const schema = { type: "object", properties: { n: { type: "integer" } } };
    const response_format = { type: "json_schema", json_schema: { name: "n", strict: true, schema } };
    const body = { response_format, ...(owner !== undefined && { model: "up/far" }) };
    const response = await ask(serve(hello, { constrain }, beside), [item("free"), item("strict", body)]);
    expect([response.status, response.headers.get("x-grammar-constraints")]).toEqual([200, expected]);
    await response.text();
  });

  test("sends every item whole without streaming", async () => {
    const byItem = await answers(ask(serve(undefined, { streaming: false }), items(2, { stream: true })));
    expect([...byItem.values()].map(({ objects }) => objects)).toEqual([["chat.completion"], ["chat.completion"]]);
  });
});

describe("a batch is refused", () => {
  const twice = [item("a"), item("b"), item("a")];
  test.each([
    ["no requests", {}, "requests", "missing_required_parameter"],
    ["none", { requests: [] }, "requests", "invalid_value"],
    ["65", { requests: items(65) }, "requests", "invalid_value"],
    ["no array", { requests: item("a") }, "requests", "invalid_type"],
    ["an item that is none", { requests: ["a"] }, "requests.0", "invalid_type"],
    [
      "no name",
      { requests: [item("a"), { body: { messages } }] },
      "requests.1.custom_id",
      "missing_required_parameter",
    ],
    ["an empty name", { requests: [item("")] }, "requests.0.custom_id", "invalid_value"],
    ["a long name", { requests: [item("x".repeat(513))] }, "requests.0.custom_id", "invalid_value"],
    [
      "a name that is a number",
      { requests: [{ custom_id: 7, body: { messages } }] },
      "requests.0.custom_id",
      "invalid_type",
    ],
    ["a name twice", { requests: twice }, "requests.2.custom_id", "invalid_value"],
    ["no body", { requests: [{ custom_id: "a" }] }, "requests.0.body", "missing_required_parameter"],
    ["an array as body", { requests: [{ custom_id: "a", body: [] }] }, "requests.0.body", "invalid_type"],
    ["a bad body", { requests: [item("a"), item("b", { messages: [] })] }, "requests.1.body.messages", "invalid_value"],
    ["a bad field", { requests: [item("a", { top_p: "x" })] }, "requests.0.body.top_p", "invalid_type"],
    [
      "an unsupported field",
      { requests: [item("a", { audio: {} })] },
      "requests.0.body.audio",
      "unsupported_parameter",
    ],
    ["an array", [], null, "invalid_type"],
  ] as const)("%s: 400 before anything starts", async (_, body, param, code) => {
    const server = serve();
    const response = await server.post(path, body, { "x-request-id": "mine" });
    expect(response.status).toBe(400);
    const { error } = checkError(await response.json());
    expect([error.param, error.code, error.request_id]).toEqual([param, code, "mine"]);
    if (param) expect(error.message).toContain(`'${param.replace(/(\.body)\..*/, "$1")}'`);
    expect(server.engine.requests).toBeEmpty();
  });

  test("when no engine has a free place: 503 with Retry-After, as for a single request", async () => {
    const server = serve({ steps: [{ wait: never }] }, { parallel: 1, maxQueue: 1 });
    void server.chat({}).catch(() => {});
    void server.chat({}).catch(() => {});
    await until(() => server.engine.live === 2);
    const response = await ask(server, items(2));
    expect([response.status, checkError(await response.json()).error.code]).toEqual([503, "server_busy"]);
    expect(Number(response.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(server.metrics.calls).toContain("rejected queue_full");
  });

  test("when the model of an item is unknown (404) or absent (503 with Retry-After)", async () => {
    const server = serve(hello, { serveModel: false });
    const refused = async (body: Body) => {
      const response = await ask(server, [item("a", body)]);
      const { error } = checkError(await response.json());
      return [response.status, error.code, error.param, response.headers.get("retry-after")];
    };
    const place = "requests.0.body";
    expect(await refused({ model: "gpt-4o" })).toEqual([404, "model_not_found", `${place}.model`, null]);
    expect(await refused({})).toEqual([503, "upstream_unavailable", place, "5"]);
  });

  test("when its headers are invalid", async () => {
    const response = await ask(serve(), items(1), { "x-svc-deadline-ms": "soon" });
    expect([response.status, checkError(await response.json()).error.param]).toEqual([400, "X-Svc-Deadline-Ms"]);
  });
});

describe("items", () => {
  test("64 of them need far fewer places: a few are in the engine at once, and other requests fit in between", async () => {
    const gate = Promise.withResolvers<void>();
    let most = 0;
    const script = (request: GenerateRequest): FakeScript => {
      most = Math.max(most, server.engine.live);
      return { steps: textOf(request) === "hi" ? [{ wait: gate.promise }, { text: "a" }] : [{ text: "b" }] };
    };
    const server = serve(script, { parallel: 2, maxQueue: 4 });
    const response = await ask(server, items(64), { "x-svc-client": "batcher" });
    await until(() => server.engine.live === 4);
    expect((await server.chat({ messages: said("other") })).status).toBe(200);
    gate.resolve();
    expect((await answers(response)).size).toBe(64);
    expect(most).toBeLessThanOrEqual(5);
    const own = server.engine.requests.filter((request) => textOf(request) === "hi");
    expect([own.length, new Set(own.map(({ id }) => id)).size]).toEqual([64, 64]);
    expect(new Set(own.map(({ client }) => client))).toEqual(new Set(["batcher"]));
    await isIdle(server);
  });

  test("with several answers each run fewer at once", async () => {
    const gate = Promise.withResolvers<void>();
    const server = serve({ steps: [{ wait: gate.promise }, { text: "a" }] }, { parallel: 2, maxQueue: 4 });
    const response = await ask(server, items(3, { n: 3 }));
    await until(() => server.engine.live === 3);
    gate.resolve();
    const byItem = await answers(response);
    expect([...byItem.values()].map(({ body }) => body?.choices.length)).toEqual([3, 3, 3]);
    await isIdle(server);
  });

  test("that fail yield one event each, and the others go on", async () => {
    const tooLong = new SvcError("context_length_exceeded", "'messages' is too long.", { param: "messages" });
    const script = (request: GenerateRequest): FakeScript => {
      const name = textOf(request);
      if (name === "long") return { steps: [{ fail: tooLong }, "accept"] };
      if (name === "bug") return { steps: [{ text: "a" }, { fail: new Error("secret") }] };
      return { steps: [{ text: "fine" }] };
    };
    const server = serve(script);
    const byItem = await answers(
      ask(server, [
        item("long", { messages: said("long"), stream: true }),
        item("long whole", { messages: said("long") }),
        item("bug", { messages: said("bug") }),
        item("fine", { stream: true }),
      ]),
    );
    for (const name of ["long", "long whole"]) {
      expect(byItem.get(name)).toMatchObject({
        objects: ["batch.error"],
        error: { code: "context_length_exceeded", type: "invalid_request_error", param: "messages", custom_id: name },
      });
    }
    expect(byItem.get("bug")).toMatchObject({ objects: ["batch.error"], error: { code: "internal_error" } });
    expect(JSON.stringify([...byItem])).not.toContain("secret");
    expect(byItem.get("fine")?.body?.choices[0]?.message.content).toBe("fine");
    await isIdle(server);
  });

  test("end at the deadline: running ones with their text so far, the others with an error", async () => {
    const server = serve({ steps: [{ text: "a" }, { wait: never }] }, { parallel: 1, maxQueue: 0 });
    const response = ask(server, items(4), { "x-svc-deadline-ms": "60000" });
    // Two items are in the engine: one is computed, one waits for its place.
    await until(() => server.metrics.calls.filter((call) => call === "first").length === 2);
    server.clock.pass(60_000);
    const ends = [...(await answers(response)).values()].map(
      ({ body, error }) => error?.code ?? body?.choices[0]?.finish_reason,
    );
    expect(ends.sort()).toEqual(["deadline_exceeded", "deadline_exceeded", "length", "length"]);
  });

  test("wait for a slow reader", async () => {
    const text = "x".repeat(10_000);
    let pulled = 0;
    const steps = Array.from({ length: 200 }, () => ({
      get text() {
        pulled++;
        return text;
      },
    }));
    const server = serve({ steps }, { parallel: 2, maxQueue: 4 });
    const response = await ask(server, items(8, { stream: true }));
    await until(() => pulled > 4);
    await Bun.sleep(100);
    const early = pulled;
    // The test cannot limit what the system's buffers hold.
    expect(early).toBeLessThan(1500);
    expect((await answers(response)).size).toBe(8);
    expect(pulled).toBeGreaterThanOrEqual(1600);
    await isIdle(server);
  });
});

describe("cancelling", () => {
  const begun: FakeScript = { steps: [{ text: "Hel" }, { wait: never }, { text: "lo" }] };
  const endOf = (byItem: Awaited<ReturnType<typeof answers>>) =>
    Object.fromEntries([...byItem].map(([name, { body }]) => [name, body?.choices[0]?.finish_reason]));

  test.each([
    ["its custom_id", "i1"],
    ["the batch's id and its custom_id", "b1:i1"],
  ])("one item by %s leaves the others running", async (_, name) => {
    const gate = Promise.withResolvers<void>();
    const server = serve({ steps: [{ text: "Hel" }, { wait: gate.promise }, { text: "lo" }] });
    const response = await ask(server, items(3, { stream: true }), { "x-request-id": "b1" });
    await until(() => server.engine.live === 3);
    const cancelled = await cancel(server, name);
    expect([cancelled.status, await cancelled.json()]).toEqual([
      200,
      { id: name, object: "chat.completion.cancellation", cancelled: true },
    ]);
    await until(() => server.engine.live === 2);
    expect((await cancel(server, name)).status).toBe(404);
    gate.resolve();
    expect(endOf(await answers(response))).toEqual({ i0: "stop", i1: "cancelled", i2: "stop" });
    expect((await cancel(server, "i0")).status).toBe(404);
    await isIdle(server);
  });

  test("an item that has not begun ends it at once, and it is never computed", async () => {
    const server = serve(begun, { parallel: 1, maxQueue: 0 });
    const client = await RawClient.connect(server.port);
    client.post(path, JSON.stringify({ requests: [...items(4), item("last", { n: 2 })] }), ["X-Request-ID: b2"]);
    await until(() => server.engine.live === 2);
    expect((await cancel(server, "last")).status).toBe(200);
    await until(() => client.received.includes('"custom_id":"last"'));
    expect(client.received).toContain('"finish_reason":"cancelled"');
    expect(server.engine.requests.length).toBe(2);
    client.leave();
    await isIdle(server);
  });

  test("all items by the request's id leaves nothing to cancel", async () => {
    const server = serve(begun, { parallel: 1, maxQueue: 0 });
    const response = await ask(server, items(5), { "x-request-id": "b3" });
    await until(() => server.engine.live === 2);
    expect((await cancel(server, "b3")).status).toBe(200);
    const ends = endOf(await answers(response));
    expect(ends).toEqual({ i0: "cancelled", i1: "cancelled", i2: "cancelled", i3: "cancelled", i4: "cancelled" });
    expect((await cancel(server, "b3")).status).toBe(404);
    expect(server.engine.requests.length).toBe(2);
    await isIdle(server);
  });

  test("an item whose name is in two batches cancels that of the newer batch", async () => {
    const gate = Promise.withResolvers<void>();
    const server = serve({ steps: [{ text: "a" }, { wait: gate.promise }] });
    const older = await ask(server, items(1));
    const newer = await ask(server, items(1));
    await until(() => server.engine.live === 2);
    expect((await cancel(server, "i0")).status).toBe(200);
    gate.resolve();
    expect([endOf(await answers(older)), endOf(await answers(newer))]).toEqual([{ i0: "stop" }, { i0: "cancelled" }]);
  });

  test.each([
    ["an item", "i0"],
    ["all items", "batch"],
  ])("%s of another API key is not possible, whatever its name", async (_, name) => {
    const apiKeys = ["ada", "eve"].map((client) => ({ name: client, key: `${client}-key` }));
    const server = serve(begun, { apiKeys });
    const [ada, eve] = apiKeys.map(({ key }) => ({ "x-api-key": key, "x-request-id": "batch" }));
    const older = await ask(server, items(1), ada);
    const newer = await ask(server, items(1), eve);
    await until(() => server.engine.live === 2);
    const cancelBy = async (headers = {}) =>
      (await server.post(`/v1/chat/completions/${name}/cancel`, "", headers)).status;
    expect([await cancelBy(ada), await cancelBy(ada)]).toEqual([200, 404]);
    expect(endOf(await answers(older))).toEqual({ i0: "cancelled" });
    expect([await cancelBy(eve), endOf(await answers(newer))]).toEqual([200, { i0: "cancelled" }]);
  });

  test.each([true, false])("by disconnecting ends all items (stream: %p)", async (stream) => {
    const server = serve(begun, { parallel: 2, maxQueue: 4 });
    const client = await RawClient.connect(server.port);
    client.post(path, JSON.stringify({ requests: items(64, { stream }) }), ["X-Request-ID: leaver"]);
    await until(() => server.engine.live === 4);
    client.leave();
    await isIdle(server);
    expect(server.requests.history.list()).toHaveLength(4);
    expect((await cancel(server, "leaver")).status).toBe(404);
  });

  test("a stopping server still answers waiting items within the drain timeout", async () => {
    const gate = Promise.withResolvers<void>();
    const script: FakeScript = { steps: [{ text: "a" }, { wait: gate.promise }] };
    const server = serve(script, { parallel: 1, maxQueue: 0, drainTimeoutMs: 5000 });
    const response = await ask(server, items(4));
    await until(() => server.engine.live === 2);
    const stopped = server.stop();
    await until(() => isDraining(server));
    gate.resolve();
    expect(endOf(await answers(response))).toEqual({ i0: "stop", i1: "stop", i2: "stop", i3: "stop" });
    await stopped;
  });

  test("a stopping server ends running items and fails waiting ones after the drain timeout", async () => {
    const server = serve(begun, { parallel: 1, maxQueue: 0 });
    const response = await ask(server, items(4));
    await until(() => server.engine.live === 2);
    const stopped = server.stop();
    const byItem = await answers(response);
    await stopped;
    const ends = [...byItem.values()].map(({ body, error }) => error?.code ?? body?.choices[0]?.finish_reason);
    expect(ends.sort()).toEqual(["cancelled", "cancelled", "shutting_down", "shutting_down"]);
  });
});
