// The limits of request bodies: number of values, memory of all bodies, forms.

import { describe, expect, test } from "bun:test";
import { ErrorEnvelope } from "../../src/contract/errors.ts";
import { checker } from "../../src/contract/schema.ts";
import { ByteBudget } from "../../src/domain/byte-budget.ts";
import { bodyCeilings } from "../../src/http/json-body.ts";
import { offeredTranscription, OfferedModels } from "../../src/service/offered-models.ts";
import { FakeTranscriber } from "../support/fake-transcription-engine.ts";
import { until } from "../support/until.ts";
import { messages, serve } from "./harness.ts";
import { RawClient } from "./raw.ts";

const CHAT = "/v1/chat/completions";
const MB = 1024 * 1024;
const checkError = checker(ErrorEnvelope);

const ROUTES = `
  POST /v1/chat/completions
  POST /v1/chat/completions/input_tokens
  POST /v1/completions
  POST /v1/responses
  POST /v1/responses/input_tokens
  POST /v1/conversations
  POST /v1/messages
  POST /v1/messages/count_tokens
  POST /v1/batch/completions
  POST /v1/batches
  POST /v1/embeddings
  POST /v1/rerank
  POST /v1/tokenize
  POST /v1/detokenize
  POST /v1/count_tokens
  POST /api/chat
  POST /api/generate
  POST /api/show
  POST /api/embed
  POST /api/embeddings
  POST /api/pull
  DELETE /api/delete
  POST /tokenize
  POST /detokenize
  POST /apply-template
`;

describe("a body with too many values or names", () => {
  const names = `{${Array.from({ length: 50_001 }, (_, n) => `"${n}":1`).join()}}`;

  test.each(ROUTES.trim().split(/\s*\n\s*/))("is refused: %s", async (route) => {
    const [method = "", path = ""] = route.split(" ");
    const response = await fetch(serve().url + path, { method, body: names });
    expect(response.status).toBe(400);
    expect(await response.text()).toContain("The request body has more than 50000 names of members.");
  });

  test("is refused while it arrives, before the rest is sent", async () => {
    const client = await RawClient.connect(serve().port);
    const head = `Content-Length: ${bodyCeilings.generation}`;
    client.post(CHAT, `{"messages":[${"[],".repeat(600_000)}`, [head]);
    await until(() => client.received.includes("request_id"));
    expect(client.received).toStartWith("HTTP/1.1 400 ");
    expect(client.received).toContain("The request body has more than 1000000 JSON values.");
    client.leave();
  });
});

describe("long strings", () => {
  test("arrive unchanged, with a length or in chunks", async () => {
    const server = serve();
    const content = `${'é\\"\n😀{[,'.repeat(200_000)}.`;
    const body = JSON.stringify({ messages: [{ role: "user", content }, ...messages] });
    const pieces = new Blob([body]).stream();
    for (const sent of [body, pieces]) {
      expect((await fetch(server.url + CHAT, { method: "POST", body: sent })).status).toBe(200);
    }
    for (const { messages: received } of server.engine.requests) {
      expect(received.map((message) => message.content)).toEqual([content, "hi"]);
    }
  });
});

/** Returns whether a budget has room for this many bytes now. */
function fits(budget: ByteBudget, bytes: number): boolean {
  const account = budget.open();
  try {
    account.hold(bytes);
    return true;
  } catch {
    return false;
  } finally {
    account.close();
  }
}

describe("all bodies together", () => {
  const post = (url: string, megabytes: number) =>
    fetch(url + CHAT, {
      method: "POST",
      body: JSON.stringify({ messages, metadata: { x: "x".repeat(megabytes * MB) } }),
    });

  /** Repeats a request with a body of 3 MB until it is served. */
  async function untilServed(url: string): Promise<void> {
    while ((await post(url, 3)).status !== 200) await Bun.sleep(5);
  }

  test("share a memory limit: a body that does not fit is told to retry, and small ones always fit", async () => {
    const budget = new ByteBudget(4 * MB);
    const server = serve(undefined, {}, [], undefined, budget);
    const client = await RawClient.connect(server.port);
    client.post(CHAT, `{"x":"${"x".repeat(4 * MB)}`, [`Content-Length: ${10 * MB}`]);
    await until(() => !fits(budget, 3 * MB));
    const refused = await post(server.url, 3);
    expect(refused.headers.get("retry-after")).toBe("2");
    const { error } = checkError(await refused.json());
    expect(error.code).toBe("server_busy");
    expect(error.message).toContain("at most 4 MiB together");
    expect((await post(server.url, 0)).status).toBe(200);
    client.leave();
    await untilServed(server.url);
  });

  test("free their memory, however their requests end", async () => {
    const server = serve(undefined, {}, [], undefined, new ByteBudget(4 * MB));
    const bad = `{"messages":"${"x".repeat(4 * MB)}"`;
    for (let tries = 0; tries < 4; tries++) expect((await server.post(CHAT, bad)).status).toBe(400);
    for (let tries = 0; tries < 4; tries++) expect((await post(server.url, 4)).status).toBe(200);
  });

  test("count until their requests have ended", async () => {
    const gate = Promise.withResolvers<void>();
    const server = serve({ steps: [{ wait: gate.promise }, { text: "a" }] }, {}, [], undefined, new ByteBudget(4 * MB));
    const waiting: Promise<Response>[] = [];
    for (let count = 1; count <= 2; count++) {
      waiting.push(post(server.url, 3));
      await until(() => server.engine.requests.length === count);
    }
    const refused = await post(server.url, 3);
    expect([refused.status, checkError(await refused.json()).error.message]).toEqual([
      503,
      expect.stringContaining("bodies of running requests may use at most 6 MiB together"),
    ]);
    // A shorter body of many values takes as much memory.
    const lists = JSON.stringify({ messages, x: Array(90_000).fill([]) });
    expect((await fetch(server.url + CHAT, { method: "POST", body: lists })).status).toBe(503);
    waiting.push(post(server.url, 0));
    await until(() => server.engine.requests.length === 3);
    gate.resolve();
    for (const answer of waiting) expect((await answer).status).toBe(200);
    await untilServed(server.url);
  });

  test("include the lines of uploads", async () => {
    const server = serve(
      undefined,
      { files: { bytes: 20 * MB, lines: 10, keepSeconds: null, keepBatchSeconds: null } },
      [],
      undefined,
      new ByteBudget(4 * MB),
    );
    const upload = (content: string) => fetch(`${server.url}/v1/files`, { method: "POST", body: content });
    const line = (megabytes: number) => `{"a":"${"x".repeat(megabytes * MB)}"}\n`;
    expect((await upload(line(6))).status).toBe(503);
    expect((await upload(line(3).repeat(4))).status).toBe(200);
  });
});

describe("a form", () => {
  const never = new Promise<never>(() => {});

  /** Returns the answer to a form that is never completed. */
  async function begun({ port }: { readonly port: number }, path: string): Promise<string> {
    const client = await RawClient.connect(port);
    const part = `--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n${"a".repeat(MB)}`;
    const type = "Content-Type: multipart/form-data; boundary=x";
    const head = [`POST ${path} HTTP/1.1`, "Host: localhost", type, `Content-Length: ${10 * MB}`];
    client.socket.write(`${head.join("\r\n")}\r\n\r\n${part}`);
    await until(() => client.received.includes("request_id"));
    client.leave();
    return client.received;
  }

  test.each([
    ["/v1/audio/transcriptions", "/v1/audio/transcriptions", { data: "aaaa" }],
    ["/v1/vision/ocr", "/v1/vision/ocr", { data: "aaaa" }],
    ["/v1/images/edits", "/v1/images/generations", { prompt: "a dog" }],
  ])("is refused without being read when the queue of its model is full: %s", async (path, busy, body) => {
    const server = serve(undefined, { parallel: 1, maxQueue: 0 });
    for (const engine of [server.transcriber, server.reader, server.drawer]) engine.gate = never;
    const held = server.post(busy, body);
    await until(() => server.requests.activeCount === 1);
    const refused = await begun(server, path);
    expect(refused).toStartWith("HTTP/1.1 503 ");
    expect(refused).toContain('"code":"server_busy"');
    server.requests.cancelAll();
    await held;
  });

  test("is refused without being read when no model serves it", async () => {
    const refused = await begun(serve(), "/v1/images/upscale");
    expect(refused).toStartWith("HTTP/1.1 503 ");
    expect(refused).toContain('"code":"engine_unavailable"');
  });

  test("is read when it may name another model than the one with a full queue", async () => {
    const other = new OfferedModels([offeredTranscription(new FakeTranscriber("other"), 1)]);
    const server = serve(undefined, { parallel: 1, maxQueue: 0 }, [other]);
    server.transcriber.gate = never;
    const held = server.post("/v1/audio/transcriptions", { data: "aaaa" });
    await until(() => server.requests.activeCount === 1);
    const form = new FormData();
    form.append("file", new Blob(["sound"]), "speech.wav");
    form.append("model", "other");
    expect((await fetch(`${server.url}/v1/audio/transcriptions`, { method: "POST", body: form })).status).toBe(200);
    server.requests.cancelAll();
    await held;
  });
});
