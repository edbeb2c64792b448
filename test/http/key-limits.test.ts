import { describe, expect, test } from "bun:test";
import type { Config } from "../../src/config/config.ts";
import type { FakeScript } from "../support/fake-text-engine.ts";
import { until } from "../support/until.ts";
import { hello, serve } from "./harness.ts";
import { RawClient } from "./raw.ts";

const apiKeys = ["ada", "eve"].map((name) => ({ name, key: `${name}-key` }));
const ada = { authorization: "Bearer ada-key" };
const eve = { authorization: "Bearer eve-key" };
const serveLimited = (overrides: Partial<Config>, script: FakeScript = hello) =>
  serve(script, { apiKeys, ...overrides });

describe("--key-rpm", () => {
  test("limits requests per minute, and a refusal says when the next may come", async () => {
    const server = serveLimited({ keyRpm: 3 });
    const ask = async (headers = ada) => (await server.chat({}, headers)).status;
    expect([await ask(), await ask()]).toEqual([200, 200]);
    server.clock.pass(40_000);
    expect([await ask(), await ask()]).toEqual([200, 429]);
    const refused = await server.chat({}, ada);
    expect([refused.status, await refused.json()]).toEqual([
      429,
      {
        error: {
          message: "The rate limit of this API key is reached: 3 requests a minute.",
          type: "rate_limit_error",
          param: null,
          code: "rate_limit_exceeded",
          request_id: refused.headers.get("x-request-id"),
        },
      },
    ]);
    expect(Number(refused.headers.get("retry-after"))).toBeWithin(1, 21);
    expect(await ask(eve)).toBe(200);
    server.clock.pass(20_000);
    expect([await ask(), await ask(), await ask()]).toEqual([200, 200, 429]);
  });

  test("reading and cancelling do not count and remain possible", async () => {
    const server = serveLimited({ keyRpm: 1 });
    expect((await server.chat({}, ada)).status).toBe(200);
    for (const path of ["/v1/models", "/v1/files", "/v1/batches", "/metrics"]) {
      expect((await fetch(server.url + path, { headers: ada })).status).toBe(200);
    }
    expect((await server.post("/v1/chat/completions/x/cancel", "", ada)).status).toBe(404);
    expect((await server.post("/v1/embeddings", { input: "hi" }, ada)).status).toBe(429);
  });
});

describe("--key-concurrent", () => {
  test.each([false, true])("a request holds its place until its answer has ended (stream: %p)", async (stream) => {
    const gate = Promise.withResolvers<void>();
    const server = serveLimited({ keyConcurrent: 1 }, { steps: [{ text: "Hel" }, { wait: gate.promise }] });
    const first = server.chat({ stream }, ada);
    await until(() => server.engine.live === 1);
    const refused = await server.chat({}, ada);
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "1"]);
    const other = server.chat({}, eve);
    await until(() => server.engine.live === 2);
    gate.resolve();
    await (await first).text();
    expect((await other).status).toBe(200);
    await until(() => server.metrics.connections === 0);
    expect((await server.chat({}, ada)).status).toBe(200);
  });

  test("a request that is cancelled, or whose client disconnects, frees its place", async () => {
    const server = serveLimited({ keyConcurrent: 1 }, { steps: [{ wait: new Promise(() => {}) }] });
    const cancelled = server.chat({}, { ...ada, "x-request-id": "mine" });
    await until(() => server.engine.live === 1);
    expect((await server.post("/v1/chat/completions/mine/cancel", "", ada)).status).toBe(200);
    await cancelled;
    const leave = new AbortController();
    const left = fetch(`${server.url}/v1/chat/completions`, {
      method: "POST",
      body: JSON.stringify({ messages: [{ role: "user", content: "hi" }], stream: true }),
      headers: ada,
      signal: leave.signal,
    }).catch(() => {});
    await until(() => server.engine.live === 1);
    leave.abort();
    await left;
    await until(() => server.metrics.connections === 0);
    expect((await server.post("/v1/embeddings", { input: "hi" }, ada)).status).toBe(200);
  });

  test("a refused request takes no place, and an invalid body frees it", async () => {
    const server = serveLimited({ keyConcurrent: 1 });
    for (let round = 0; round < 3; round++)
      expect((await server.post("/v1/chat/completions", "{", ada)).status).toBe(400);
    expect((await server.chat({}, ada)).status).toBe(200);
  });

  test.each(["reads", "leaves"])("a large answer holds its place until its client %s", async (how) => {
    const server = serveLimited({ keyConcurrent: 1 });
    // More than the buffers of a connection hold.
    for (const embedder of server.embedders) embedder.dimensions = 1000;
    const client = await RawClient.connect(server.port);
    client.socket.once("data", () => client.socket.pause());
    const body = JSON.stringify({ input: Array.from({ length: 2000 }, () => "hi"), encoding_format: "base64" });
    client.post("/v1/embeddings", body, ["Authorization: Bearer ada-key"]);
    await until(() => client.received !== "");
    expect((await server.chat({}, ada)).status).toBe(429);
    if (how === "leaves") client.leave();
    else client.socket.resume();
    await until(() => server.metrics.connections === 0);
    expect((await server.chat({}, ada)).status).toBe(200);
    client.leave();
  });

  test("a background response holds its place until it is complete", async () => {
    const gate = Promise.withResolvers<void>();
    const server = serveLimited({ keyConcurrent: 1 }, { steps: [{ text: "Hel" }, { wait: gate.promise }] });
    const begun = await server.post("/v1/responses", { input: "hi", background: true }, ada);
    expect(begun.status).toBe(200);
    await until(() => server.engine.live === 1);
    expect((await server.chat({}, ada)).status).toBe(429);
    gate.resolve();
    const { id } = (await begun.json()) as { id: string };
    const status = async () =>
      ((await (await fetch(`${server.url}/v1/responses/${id}`, { headers: ada })).json()) as { status: string }).status;
    while ((await status()) !== "completed") await Bun.sleep(2);
    while ((await server.chat({}, ada)).status !== 200) await Bun.sleep(2);
  });
});
