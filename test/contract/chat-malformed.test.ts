import { describe, expect, test } from "bun:test";
import { hello, serve, type TestServer } from "../http/harness.ts";
import { malformed, SECRET, type MalformedRow } from "./chat-malformed-table.ts";

const send = (server: TestServer, { body, headers }: MalformedRow, id: string) =>
  fetch(`${server.url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-request-id": id, ...headers },
    body: typeof body === "string" || body instanceof Uint8Array ? body : JSON.stringify(body),
  });

describe("malformed chat requests", () => {
  test("there are at least 200 of them, all different", () => {
    expect(new Set(malformed.map(({ name }) => name)).size).toBe(malformed.length);
    expect(malformed.length).toBeGreaterThanOrEqual(200);
  });

  test("each is answered with its code, in the envelope, with the request's id, without its text", async () => {
    const server = serve();
    for (const [index, row] of malformed.entries()) {
      const id = `malformed-${index}`;
      const response = await send(server, row, id);
      const text = await response.text();
      const { error } = JSON.parse(text);
      const seen = { name: row.name, status: response.status, code: error.code, type: error.type };
      expect(seen).toEqual({ name: row.name, status: 400, code: row.code, type: "invalid_request_error" });
      expect(Object.keys(error)).toEqual(["message", "type", "param", "code", "request_id"]);
      if (row.param !== undefined) expect([row.name, error.param]).toEqual([row.name, row.param]);
      expect(error.message).toBeString();
      expect(error.message.length).toBeGreaterThan(10);
      expect(text).not.toContain(SECRET);
      expect(error.request_id).toBe(id);
      expect(response.headers.get("x-request-id")).toBe(id);
      expect(response.headers.get("compat-request-id")).toBe(id);
    }
    expect(server.engine.requests).toBeEmpty();
    expect(JSON.stringify(server.log.lines)).not.toContain(SECRET);
  });

  test("memory is level after thousands of them, and the server still answers", async () => {
    const server = serve(hello);
    const big = { name: "8 MB", body: `{"messages":"${"x".repeat(8 << 20)}`, code: "invalid_json" } as const;
    const round = async () => {
      for (const row of malformed) await (await send(server, row, "r")).arrayBuffer();
      for (let i = 0; i < 3; i++) await (await send(server, big, "r")).arrayBuffer();
      server.log.lines.length = 0;
      Bun.gc(true);
      return process.memoryUsage();
    };
    /** What other files' tests left in the process goes when it likes: the lowest of some rounds is what is held. */
    const lowest = async () => {
      const rounds = [await round(), await round(), await round()];
      const least = (part: "heapUsed" | "rss") => Math.min(...rounds.map((used) => used[part]));
      return { heapUsed: least("heapUsed"), rss: least("rss") };
    };
    await round();
    const before = await lowest();
    for (let i = 0; i < 3; i++) await round();
    let after = await lowest();
    // What is leaked only becomes more.
    for (let i = 0; i < 3 && after.heapUsed - before.heapUsed >= 4 << 20; i++) after = await lowest();
    expect(after.heapUsed - before.heapUsed).toBeLessThan(4 << 20);
    expect(after.rss - before.rss).toBeLessThan(48 << 20);
    expect((await server.chat({})).status).toBe(200);
  }, 60_000);
});
