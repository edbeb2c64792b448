// What a server holds after thousands of malformed requests. chat-malformed.long.test.ts runs it in a process of its own: what other
// tests leave in theirs goes, and grows, when it likes.

import { expect, test } from "bun:test";
import { serve } from "../http/harness.ts";
import { malformed, sendMalformed } from "./chat-malformed-table.ts";

const big = { name: "8 MB", body: `{"messages":"${"x".repeat(8 << 20)}`, code: "invalid_json" } as const;

test("memory is level after thousands of them, and the server still answers", async () => {
  const server = serve();
  const round = async () => {
    for (const row of malformed) await (await sendMalformed(server, row, "r")).arrayBuffer();
    for (let i = 0; i < 3; i++) await (await sendMalformed(server, big, "r")).arrayBuffer();
    server.log.lines.length = 0;
    Bun.gc(true);
    return process.memoryUsage();
  };
  /** What is collected is up to the collector: the lowest of some rounds is what is held. */
  const lowest = async () => {
    const rounds = [await round(), await round(), await round()];
    const least = (part: "heapUsed" | "rss") => Math.min(...rounds.map((used) => used[part]));
    return { heapUsed: least("heapUsed"), rss: least("rss") };
  };
  await round();
  const before = await lowest();
  for (let i = 0; i < 3; i++) await round();
  const after = await lowest();
  expect(after.heapUsed - before.heapUsed).toBeLessThan(4 << 20);
  expect(after.rss - before.rss).toBeLessThan(48 << 20);
  expect((await server.chat({})).status).toBe(200);
}, 60_000);
