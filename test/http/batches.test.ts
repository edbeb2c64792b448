import { describe, expect, setDefaultTimeout, test } from "bun:test";
import type { Socket } from "node:net";
import type { Batch } from "../../src/contract/batches.ts";
import { SvcError } from "../../src/domain/errors.ts";
import type { ModelSource } from "../../src/service/model-router.ts";
import { chatServer, delta, eventStream, helloStream } from "../gateway/fixture-server.ts";
import { rawServer } from "../gateway/raw-server.ts";
import { remote } from "../gateway/remote.ts";
import { FakeEngine } from "../support/fake-text-engine.ts";
import { until } from "../support/until.ts";
import { cancel, create, customIds, get, jsonl, lineOf, many, output, untilStatus, upload } from "./batch-client.ts";
import { hello, messages, serve } from "./harness.ts";

setDefaultTimeout(60_000);

interface Failure {
  readonly error: { readonly code: string; readonly param: string | null; readonly message: string };
}

describe("a batch", () => {
  test("goes from validating to completed, with every line answered as the chat route answers it", async () => {
    const server = serve();
    const made = await create(server, many(20), { metadata: { job: "night" }, completion_window: "24h" });
    expect(made).toMatchObject({
      object: "batch",
      endpoint: "/v1/chat/completions",
      model: "fake-model",
      completion_window: "24h",
      metadata: { job: "night" },
      expires_at: made.created_at + 86_400,
    });
    expect(["validating", "in_progress"]).toContain(made.status);
    const done = await untilStatus(server, made.id, "completed");
    expect(done.request_counts).toEqual({ total: 20, completed: 20, failed: 0 });
    expect(done.usage).toMatchObject({ input_tokens: 240, output_tokens: 40, total_tokens: 280 });
    for (const time of [done.in_progress_at, done.finalizing_at, done.completed_at]) expect(time).toBeNumber();
    const lines = await output(server, done);
    expect(customIds(lines)).toEqual(customIds(many(20)));
    expect(new Set(lines.map(({ id }) => id)).size).toBe(20);
    const { id: _, created: __, ...plain } = (await (await server.chat({})).json()) as Record<string, unknown>;
    for (const { response, error } of lines) {
      expect(error).toBeNull();
      expect(response).toMatchObject({ status_code: 200, body: plain });
      expect(response?.request_id).toMatch(/^req_[0-9a-f]{12}$/);
    }
    const file = await (await fetch(`${server.url}/v1/files/${done.output_file_id}`)).json();
    expect(file).toMatchObject({ purpose: "batch_output", filename: `${made.id}_output.jsonl`, expires_at: null });
  });

  test("names no model on a server that has none of its own", async () => {
    expect(await create(serve(undefined, { serveModel: false }), many(1))).not.toHaveProperty("model");
  });

  test("is one client in the background, whose lines are never streams", async () => {
    const server = serve();
    const { id } = await create(server, [lineOf(1, { messages, stream: true })]);
    const done = await untilStatus(server, id, "completed");
    expect(server.engine.requests[0]).toMatchObject({ client: id, background: true });
    expect((await output(server, done))[0]?.response?.body).toMatchObject({ object: "chat.completion" });
  });

  test("a line that is refused or fails is a line of the output, and fails nothing else", async () => {
    const fail = new SvcError("context_length_exceeded", "too long", { param: "messages" });
    const server = serve(({ maxTokens }) => (maxTokens === 7 ? { steps: ["accept", { fail }] } : hello));
    const bodies = [{ messages }, { messages: [] }, { messages, max_tokens: 7 }, { temperature: "hot" }, { messages }];
    const { id } = await create(
      server,
      bodies.map((body, index) => lineOf(index, body)),
    );
    const done = await untilStatus(server, id, "completed");
    expect(done.request_counts).toEqual({ total: 5, completed: 2, failed: 3 });
    expect(done.error_file_id).toBeNull();
    const lines = new Map((await output(server, done)).map((line) => [line.custom_id, line]));
    for (const [index, code] of [
      [1, "invalid_value"],
      [2, "context_length_exceeded"],
      [3, "missing_required_parameter"],
    ] as const) {
      const line = lines.get(`line-${index}`);
      const request_id = line?.response?.request_id;
      expect(line?.error?.code).toBe(code);
      expect(line?.response).toMatchObject({ status_code: 400, body: { error: { code, request_id } } });
    }
  });

  test("a line whose log probabilities take too much memory fails and says what to change", async () => {
    const one = { token: "a", id: 1, bytes: [97], logprob: -1 };
    const logprobs = Array(140_000).fill({ ...one, top: Array(20).fill(one) });
    const server = serve({ steps: [{ text: "a", logprobs }] });
    const { id } = await create(server, [lineOf(0, { messages, logprobs: true, top_logprobs: 20 })]);
    const [line] = await output(server, await untilStatus(server, id, "completed"));
    expect(line?.response).toMatchObject({ status_code: 400, body: { error: { param: "top_logprobs" } } });
  });

  test("a line is answered by the model that accepted it, even if its upstream no longer offers that model", async () => {
    let isOffered = true;
    const engine = new FakeEngine(() => {
      isOffered = false;
      return hello;
    });
    const chat = { model: "far/away", engine, parallel: 1 };
    const upstream: ModelSource = {
      models: () => [],
      find: (name) => (isOffered && name === chat.model ? { chat } : undefined),
      claims: (name) => name.startsWith("far/"),
    };
    const server = serve(hello, {}, [upstream]);
    const { id } = await create(server, [lineOf(0, { model: "far/away", messages })]);
    const [line] = await output(server, await untilStatus(server, id, "completed"));
    expect(line?.response).toMatchObject({ status_code: 200, body: { model: "far/away" } });
    expect(server.requests.activeCount).toBe(0);
  });

  test("what says nothing about a line is tried again; what ends the engine, not for ever", async () => {
    const tries = new Map<number | undefined, number>();
    const failures = [
      new SvcError("server_busy", "busy", { retryAfterSeconds: 0.01 }),
      new SvcError("engine_unavailable", "down", { retryAfterSeconds: 0.01 }),
    ];
    const crash = new SvcError("engine_crashed", "gone", { retryAfterSeconds: 0.01 });
    const server = serve(({ maxTokens }) => {
      const before = tries.get(maxTokens) ?? 0;
      tries.set(maxTokens, before + 1);
      const fail = maxTokens === 1 ? failures[before] : crash;
      return fail ? { steps: ["accept", { fail }] } : hello;
    });
    const { id } = await create(server, [
      lineOf(1, { messages, max_tokens: 1 }),
      lineOf(2, { messages, max_tokens: 2 }),
    ]);
    const done = await untilStatus(server, id, "completed");
    expect(done.request_counts).toEqual({ total: 2, completed: 1, failed: 1 });
    expect([...tries]).toEqual(
      expect.arrayContaining([
        [1, 3],
        [2, 3],
      ]),
    );
  });

  test("waiting for a place is no try: one crash behind it fails nothing", async () => {
    const busy = new SvcError("server_busy", "busy", { retryAfterSeconds: 0.01 });
    const crash = new SvcError("engine_crashed", "gone", { retryAfterSeconds: 0.01 });
    const failures = [busy, busy, busy, crash, crash];
    const server = serve(() => {
      const fail = failures.shift();
      return fail ? { steps: ["accept", { fail }] } : hello;
    });
    const { id } = await create(server, many(1));
    const done = await untilStatus(server, id, "completed");
    expect(done.request_counts).toEqual({ total: 1, completed: 1, failed: 0 });
  });

  test("only a few lines are under way, and others are never turned away for them", async () => {
    const gate = Promise.withResolvers<void>();
    const server = serve(
      ({ background }) => (background ? { steps: [{ wait: gate.promise }, { text: "x" }] } : hello),
      {
        parallel: 2,
        maxQueue: 0,
      },
    );
    const { id } = await create(server, many(50));
    await until(() => server.engine.live > 0);
    await Bun.sleep(50);
    expect(server.engine.live).toBe(4);
    for (let asked = 0; asked < 5; asked++) expect((await server.chat({})).status).toBe(200);
    gate.resolve();
    expect((await untilStatus(server, id, "completed")).request_counts.completed).toBe(50);
  });

  test("several share the places, so that a short one does not wait for a long one", async () => {
    const gate = Promise.withResolvers<void>();
    const server = serve({ steps: [{ wait: gate.promise }, { text: "x" }] }, { parallel: 1 });
    const long = await create(server, many(300));
    const short = await create(server, many(3));
    await untilStatus(server, short.id, "in_progress");
    gate.resolve();
    await untilStatus(server, short.id, "completed");
    await untilStatus(server, long.id, "completed");
    const turns = server.engine.requests.map(({ client }) => client);
    expect(turns.lastIndexOf(short.id)).toBeLessThan(20);
  });

  test("counts grow while it runs", async () => {
    const gate = Promise.withResolvers<void>();
    const server = serve(({ maxTokens }) => (maxTokens === 1 ? { steps: [{ wait: gate.promise }] } : hello));
    const { id } = await create(server, [...many(9), lineOf(9, { messages, max_tokens: 1 })]);
    let { request_counts } = await get(server, id);
    while (request_counts.completed < 9) ({ request_counts } = await get(server, id));
    expect((await get(server, id)).status).toBe("in_progress");
    gate.resolve();
    await untilStatus(server, id, "completed");
  });
});

describe("a line with a model of another server", () => {
  const lines = [lineOf(0, { model: "up/far", messages }), lineOf(1), lineOf(2, { model: "far", messages })];
  const modelsOf = (written: Awaited<ReturnType<typeof output>>) =>
    new Map(
      written.map(({ custom_id, response }) => [custom_id, (response?.body as { model?: string } | undefined)?.model]),
    );

  test("is answered there, and says so; the others are answered here", async () => {
    const far = chatServer(helloStream);
    const server = serve(hello, {}, [(await remote([far.url])).gateway]);
    const { id } = await create(server, lines);
    const written = await output(server, await untilStatus(server, id, "completed"));
    expect(modelsOf(written)).toEqual(
      new Map([
        ["line-0", "up/far"],
        ["line-1", "fake-model"],
        ["line-2", "up/far"],
      ]),
    );
    expect(server.engine.requests).toHaveLength(1);
    expect(far.asked.filter(({ path }) => path === "/v1/chat/completions")).toHaveLength(2);
  });

  /** A server that broke is left alone for seconds. */
  const hasty = { now: () => 20 * performance.now(), wall: () => Date.now() };

  test("waits for a server that is out of reach, and is tried again where that broke off", async () => {
    const answers = [
      () => Response.json({}, { status: 429, headers: { "retry-after": "0" } }),
      () => eventStream([delta({ content: "Hi" })], { done: false }),
      helloStream,
    ];
    const far = chatServer(() => (answers.shift() ?? helloStream)());
    const { gateway } = await remote([far.url], { clock: hasty });
    const { port } = far;
    await far.stop();
    const server = serve(hello, {}, [gateway]);
    const { id } = await create(server, [lineOf(0, { model: "up/far", messages })]);
    await Bun.sleep(100);
    expect((await get(server, id)).status).toBe("in_progress");
    chatServer(() => (answers.shift() ?? helloStream)(), port);
    const written = await output(server, await untilStatus(server, id, "completed"));
    expect(written[0]?.response?.body).toMatchObject({ model: "up/far", choices: [{ message: { content: "Hello" } }] });
  });

  test.each([
    ["breaks the connection of its server", (socket: Socket) => socket.resetAndDestroy()],
    [
      "ends its server behind a proxy",
      (socket: Socket) => socket.end("HTTP/1.1 502 Bad Gateway\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"),
    ],
  ])("that %s is not sent for ever", async (_, answer) => {
    let posts = 0;
    const url = await rawServer((socket) => {
      posts++;
      answer(socket);
    });
    const server = serve(hello, {}, [(await remote([url], { clock: hasty })).gateway]);
    const { id } = await create(server, [lineOf(0, { model: "up/far", messages }), lineOf(1)]);
    const done = await untilStatus(server, id, "completed");
    expect(done.request_counts).toEqual({ total: 2, completed: 1, failed: 1 });
    const failed = (await output(server, done)).find(({ custom_id }) => custom_id === "line-0");
    expect([failed?.error?.code, failed?.response?.status_code]).toEqual(["upstream_unavailable", 503]);
    expect(posts).toBeGreaterThanOrEqual(3);
  });

  test("holds up no other batch while that is out of reach", async () => {
    const far = chatServer(helloStream);
    const server = serve(hello, { parallel: 1 }, [(await remote([far.url])).gateway]);
    await far.stop();
    const waiting = await create(
      server,
      Array.from({ length: 30 }, (_, index) => lineOf(index, { model: "up/far", messages })),
    );
    await untilStatus(server, waiting.id, "in_progress");
    const other = await create(server, many(30));
    expect((await untilStatus(server, other.id, "completed")).request_counts.completed).toBe(30);
    expect((await get(server, waiting.id)).request_counts).toEqual({ total: 30, completed: 0, failed: 0 });
    expect((await cancel(server, waiting.id)).status).toBe(200);
    await untilStatus(server, waiting.id, "cancelled");
  });

  test("fails alone when its server does not have it", async () => {
    const far = chatServer(() => Response.json({ error: { message: "no such model" } }, { status: 404 }));
    const server = serve(hello, {}, [(await remote([far.url])).gateway]);
    const { id } = await create(server, [lineOf(0, { model: "up/gone", messages }), lineOf(1)]);
    const done = await untilStatus(server, id, "completed");
    expect(done.request_counts).toEqual({ total: 2, completed: 1, failed: 1 });
    const failed = (await output(server, done)).find(({ custom_id }) => custom_id === "line-0");
    expect([failed?.error?.code, failed?.response?.status_code]).toEqual(["model_not_found", 404]);
  });

  test("is answered on a server without a model of its own, whose batches name the first one", async () => {
    const far = chatServer(helloStream);
    const server = serve(hello, { serveModel: false }, [(await remote([far.url])).gateway]);
    const made = await create(server, [lineOf(0), lineOf(1, { model: "nobody", messages })]);
    expect(made.model).toBe("up/far");
    const written = await output(server, await untilStatus(server, made.id, "completed"));
    expect(modelsOf(written).get("line-0")).toBe("up/far");
    expect(written.find(({ custom_id }) => custom_id === "line-1")?.error?.code).toBe("model_not_found");
  });
});

describe("what is wrong with a batch", () => {
  test.each([
    ["no custom_id", { ...lineOf(1), custom_id: undefined }, "missing_required_parameter", "custom_id"],
    ["an empty custom_id", { ...lineOf(1), custom_id: "" }, "invalid_value", "custom_id"],
    ["another method", { ...lineOf(1), method: "GET" }, "invalid_value", "method"],
    ["another url", { ...lineOf(1), url: "/v1/embeddings" }, "invalid_value", "url"],
    ["no body", { ...lineOf(1), body: undefined }, "missing_required_parameter", "body"],
    ["a body that is a text", { ...lineOf(1), body: "hi" }, "invalid_type", "body"],
    ["a custom_id twice", lineOf(0), "duplicate_custom_id", "custom_id"],
  ])("%s: it fails with the line's number, and nothing is answered", async (_, line, code, param) => {
    const server = serve();
    const { id } = await create(server, [lineOf(0), line, lineOf(2)]);
    const failed = await untilStatus(server, id, "failed");
    expect(failed.errors?.data).toEqual([{ code, param, line: 2, message: expect.any(String) }]);
    expect(failed.failed_at).toBeNumber();
    expect([failed.output_file_id, server.engine.requests.length]).toEqual([null, 0]);
  });

  test("every wrong line is listed, a hundred at most; empty ones count", async () => {
    const server = serve();
    const input_file_id = await upload(server, `\n${jsonl([{}, lineOf(1), {}])}`);
    const made = await (await server.post("/v1/batches", { input_file_id, endpoint: "/v1/chat/completions" })).json();
    const failed = await untilStatus(server, (made as Batch).id, "failed");
    expect(failed.errors?.data.map(({ line }) => line)).toEqual([2, 4]);
    const { id } = await create(
      server,
      Array.from({ length: 150 }, () => ({})),
    );
    expect((await untilStatus(server, id, "failed")).errors?.data).toHaveLength(100);
  });

  test.each([
    [{ input_file_id: undefined }, 400, "input_file_id"],
    [{ input_file_id: 7 }, 400, "input_file_id"],
    [{ input_file_id: "file-none" }, 404, "input_file_id"],
    [{ endpoint: undefined }, 400, "endpoint"],
    [{ endpoint: "/v1/embeddings" }, 400, "endpoint"],
    [{ completion_window: "soon" }, 400, "completion_window"],
    [{ completion_window: "31d" }, 400, "completion_window"],
    [{ completion_window: "0h" }, 400, "completion_window"],
    [{ metadata: { a: 1 } }, 400, "metadata.a"],
    [{ metadata: { ["k".repeat(65)]: "" } }, 400, "metadata"],
    [{ metadata: { a: "x".repeat(513) } }, 400, "metadata.a"],
    [{ metadata: Object.fromEntries(many(17).map((_, at) => [`k${at}`, ""])) }, 400, "metadata"],
    [{ output_expires_after: { anchor: "created_at", seconds: 1 } }, 400, "output_expires_after.seconds"],
  ])("is told when it is asked for: %p", async (extra, status, param) => {
    const server = serve();
    const input_file_id = await upload(server, jsonl(many(1)));
    const body = { input_file_id, endpoint: "/v1/chat/completions", ...extra };
    const response = await server.post("/v1/batches", body);
    const { error } = (await response.json()) as Failure;
    expect([response.status, error.param]).toEqual([status, param]);
    expect(((await (await fetch(`${server.url}/v1/batches`)).json()) as { data: unknown[] }).data).toEqual([]);
  });

  test.each(["0h", "31d"])("a window of %s is told what is allowed", async (completion_window) => {
    const server = serve();
    const input_file_id = await upload(server, jsonl(many(1)));
    const body = { input_file_id, endpoint: "/v1/chat/completions", completion_window };
    const { error } = (await (await server.post("/v1/batches", body)).json()) as Failure;
    expect(error.message).toContain("from 1s to 30d");
  });

  test("null means absent, unknown fields are ignored, and an output is no input", async () => {
    const server = serve();
    const nulls = { completion_window: null, metadata: null, output_expires_after: null, colour: "red" };
    const made = await create(server, many(1), nulls);
    expect([made.completion_window, made.metadata]).toEqual(["24h", null]);
    const { output_file_id } = await untilStatus(server, made.id, "completed");
    const again = await server.post("/v1/batches", { input_file_id: output_file_id, endpoint: "/v1/chat/completions" });
    expect([again.status, ((await again.json()) as Failure).error.param]).toEqual([400, "input_file_id"]);
  });
});

describe("GET /v1/batches", () => {
  test("pages through all, the newest first", async () => {
    const server = serve();
    const ids: string[] = [];
    for (let at = 0; at < 5; at++) ids.push((await create(server, many(1))).id);
    const list = async (query: string) =>
      (await (await fetch(`${server.url}/v1/batches?${query}`)).json()) as { data: Batch[]; has_more: boolean };
    expect((await list("")).data.map(({ id }) => id)).toEqual(ids.toReversed());
    const page = await list(`limit=2&after=${ids[4]}`);
    expect([page.data.map(({ id }) => id), page.has_more]).toEqual([[ids[3], ids[2]] as string[], true]);
    for (const [query, status] of [
      ["limit=101", 400],
      ["after=batch_none", 404],
    ] as const) {
      expect((await fetch(`${server.url}/v1/batches?${query}`)).status).toBe(status);
    }
  });
});
