// --batch-endpoints: batches for endpoints other than chat completions.

import { describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { BATCH_ENDPOINTS } from "../../src/contract/batches.ts";
import { SvcError } from "../../src/domain/errors.ts";
import { FAKE_MAX_TOKENS } from "../support/fake-embedding-engine.ts";
import { errorOf } from "../support/fault.ts";
import { temporaryFolder } from "../support/folders.ts";
import { until } from "../support/until.ts";
import { create, jsonl, output, untilStatus, upload } from "./batch-client.ts";
import { hello, messages, serve, type TestServer } from "./harness.ts";

const on = { batchEndpoints: true };
const data = Buffer.from("sound").toBase64();

const lines = (url: string, bodies: readonly object[]) =>
  bodies.map((body, index) => ({ custom_id: `line-${index}`, method: "POST", url, body }));

async function run(server: TestServer, endpoint: string, bodies: readonly object[]) {
  const { id, model } = await create(server, lines(endpoint, bodies), { endpoint });
  const done = await untilStatus(server, id, "completed");
  const answers = new Map((await output(server, done)).map((line) => [line.custom_id, line]));
  return { id, model, done, answers: bodies.map((_, index) => answers.get(`line-${index}`)) };
}

/** Removes the fields that differ between two equal answers. */
function comparable(answer: unknown): unknown {
  const text = JSON.stringify(answer);
  return JSON.parse(
    text
      .replace(/\b(chatcmpl-|cmpl-|resp_|msg_)[0-9a-f]+\b/g, "$1ID")
      .replace(/"(created|created_at|completed_at)":\d+/g, '"$1":0'),
  );
}

describe("a batch", () => {
  test.each([
    ["/v1/chat/completions", { messages, max_tokens: 5 }, "fake-model", [12, 2]],
    ["/v1/completions", { prompt: ["Once", "Twice"] }, "fake-model", [24, 4]],
    ["/v1/responses", { input: "hi", store: false }, "fake-model", [12, 2]],
    ["/v1/embeddings", { input: ["a", "bc"], encoding_format: "base64" }, "fake-embedding", [3, 0]],
    ["/v1/audio/transcriptions", { data, response_format: "verbose_json" }, "fake-whisper", [0, 0]],
    ["/v1/audio/translations", { data }, "fake-whisper", [0, 0]],
  ])("for %s answers as its route, and counts its tokens", async (endpoint, body, model, [input, generated]) => {
    const server = serve(hello, on);
    const whole = await (await server.post(endpoint, body)).json();
    const { done, answers, ...made } = await run(server, endpoint, [{ ...body, stream: true }]);
    expect(made.model).toBe(model);
    expect(answers[0]).toMatchObject({ error: null, response: { status_code: 200 } });
    expect(comparable(answers[0]?.response?.body)).toEqual(comparable(whole));
    expect(done.request_counts).toEqual({ total: 1, completed: 1, failed: 0 });
    expect([done.usage?.input_tokens, done.usage?.output_tokens]).toEqual([input, generated]);
  });

  test("of texts says how many inputs of a line were truncated", async () => {
    const { answers } = await run(serve(hello, on), "/v1/embeddings", [
      { input: ["a", "x".repeat(FAKE_MAX_TOKENS + 1)] },
      { input: "a" },
    ]);
    expect(answers[0]?.response?.body).toHaveProperty("truncated", 1);
    expect(answers[1]?.response?.body).not.toHaveProperty("truncated");
  });

  test("of recordings reads them from the media folder, and returns subtitles as text", async () => {
    const mediaRoot = temporaryFolder();
    writeFileSync(join(mediaRoot, "talk.wav"), "from disk");
    const server = serve(hello, { ...on, mediaRoot });
    const bodies = [{ file: "talk.wav", response_format: "srt" }, { file: "missing.wav" }, { file: "talk.wav" }];
    const { answers, done } = await run(server, "/v1/audio/transcriptions", bodies);
    expect(answers[0]?.response?.body).toStartWith("1\n00:00:00,320 --> 00:00:02,500\nHello there.");
    expect(answers[1]?.response).toMatchObject({ status_code: 404, body: { error: { param: "file" } } });
    expect(answers[2]?.response?.body).toMatchObject({ text: "Hello there. A <b> & so on." });
    expect(done.request_counts).toEqual({ total: 3, completed: 2, failed: 1 });
    expect(server.transcriber.asked.map(({ content }) => content)).toEqual(["from disk", "from disk"]);
  });

  test("counts as one client in the background, whatever its lines are", async () => {
    const parallel = 4;
    const server = serve(hello, { ...on, maxQueue: 0, parallel });
    const [embedder] = server.embedders;
    const held = Promise.withResolvers<void>();
    if (embedder) embedder.gate = held.promise;
    server.transcriber.gate = held.promise;
    const asked = (): number => (embedder?.origins.length ?? 0) + server.transcriber.jobs.length;
    const kinds = [
      ["/v1/embeddings", { input: "a" }],
      ["/v1/audio/transcriptions", { data }],
    ] as const;
    const ids: string[] = [];
    for (const [endpoint, body] of kinds) {
      ids.push((await create(server, lines(endpoint, [body, body, body]), { endpoint })).id);
    }
    await until(() => asked() === 6);
    // Lines take no place from other requests, all of which are let in.
    const others = kinds.flatMap(([endpoint, body]) =>
      Array.from({ length: parallel }, () => server.post(endpoint, body)),
    );
    await until(() => asked() === 6 + 2 * parallel);
    held.resolve();
    for (const other of others) expect((await other).status).toBe(200);
    for (const id of ids) await untilStatus(server, id, "completed");
    const clients = [...(embedder?.origins ?? []), ...server.transcriber.jobs].flatMap(({ background, client }) =>
      background ? [client] : [],
    );
    expect(clients.toSorted()).toEqual([...ids, ...ids, ...ids].toSorted());
  });

  test("that waits for disk space fails no line", async () => {
    const server = serve(hello, on);
    const full = new SvcError("storage_full", "The disk is full.", { retryAfterSeconds: 0.01 });
    server.transcriber.refusals = [full, full];
    const { done } = await run(server, "/v1/audio/transcriptions", [{ data }]);
    expect(done.request_counts).toEqual({ total: 1, completed: 1, failed: 0 });
  });

  test("with a line for another endpoint fails before any line is answered", async () => {
    const server = serve(hello, on);
    const endpoint = "/v1/embeddings";
    const mixed = [
      ...lines(endpoint, [{ input: "a" }]),
      { ...lines("/v1/completions", [{ prompt: "a" }])[0], custom_id: "b" },
    ];
    const { id } = await create(server, mixed, { endpoint });
    const failed = await untilStatus(server, id, "failed");
    expect(failed.errors?.data).toMatchObject([{ code: "invalid_value", param: "url", line: 2 }]);
    expect(server.embedders[0]?.asked).toEqual([]);
  });

  test("has the same limit on embedding inputs as the route", async () => {
    const files = { bytes: 2 ** 25, lines: 10, keepSeconds: null, keepBatchSeconds: null };
    const server = serve(hello, { ...on, files });
    const { answers } = await run(server, "/v1/embeddings", [
      { input: "a".repeat(2 ** 23) },
      { input: Array.from({ length: 2000 }, () => "a".repeat(1100)) },
    ]);
    expect(answers[0]).toMatchObject({ error: { code: "payload_too_large" }, response: { status_code: 413 } });
    expect(answers[1]).toMatchObject({ error: null, response: { status_code: 200 } });
  });

  test("can neither continue nor store a response", async () => {
    const server = serve();
    const { id } = (await (await server.post("/v1/responses", { input: "hi" })).json()) as { id: string };
    const more = serve(hello, on);
    const { answers } = await run(more, "/v1/responses", [{ input: "on", previous_response_id: id }, { input: "hi" }]);
    expect(answers[0]?.response).toMatchObject({
      status_code: 404,
      body: { error: { param: "previous_response_id" } },
    });
    const made = answers[1]?.response?.body as { id: string; store: boolean };
    expect(made.store).toBe(false);
    expect((await fetch(`${more.url}/v1/responses/${made.id}`)).status).toBe(404);
  });
});

describe("without the option", () => {
  test("other endpoints are refused, and the refusal names the option", async () => {
    const server = serve();
    const input_file_id = await upload(server, jsonl(lines("/v1/embeddings", [{ input: "a" }])));
    for (const endpoint of BATCH_ENDPOINTS.slice(1)) {
      const response = await server.post("/v1/batches", { input_file_id, endpoint });
      const error = await errorOf(response);
      expect([response.status, error.code, error.param]).toEqual([400, "invalid_value", "endpoint"]);
      expect(error.message).toContain("--batch-endpoints");
    }
  });

  test("a batch that another server accepted is answered all the same", async () => {
    const dataDir = temporaryFolder();
    const before = serve(hello, { ...on, dataDir });
    const [embedder] = before.embedders;
    if (embedder) embedder.gate = new Promise(() => {});
    const endpoint = "/v1/embeddings";
    const { id } = await create(before, lines(endpoint, [{ input: "a" }, { input: "b" }]), { endpoint });
    await until(() => embedder?.asked.length === 2);
    await before.stop();
    const after = serve(hello, { dataDir });
    expect((await untilStatus(after, id, "completed")).request_counts).toEqual({ total: 2, completed: 2, failed: 0 });
  });
});
