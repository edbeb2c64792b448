import { describe, expect, test } from "bun:test";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../support/folders.ts";
import { cancel, create, jsonl, lineOf, many, never, on, untilStatus } from "./batch-client.ts";
import { hello, messages, serve, type TestServer } from "./harness.ts";

describe("the metrics of batches", () => {
  const levels = async (server: TestServer) => {
    expect((await fetch(`${server.url}/metrics`)).status).toBe(200);
    return server.metrics.jobs;
  };

  test("report batches by status, waiting lines and stored bytes, even before there are any", async () => {
    const dataDir = join(temporaryFolder(), "none");
    const gate = Promise.withResolvers<void>();
    const server = on(dataDir, ({ maxTokens }) => (maxTokens === 1 ? { steps: [{ wait: gate.promise }] } : hello));
    const before = await levels(server);
    expect([...(before?.batches.values() ?? [])]).toEqual(Array.from({ length: 8 }, () => 0));
    expect(before?.files.get("batch_output")).toEqual({ count: 0, bytes: 0 });
    expect(existsSync(dataDir)).toBe(false);
    const lines = [...many(3), lineOf(3, { messages: [] }), lineOf(4, { messages, max_tokens: 1 })];
    const { id } = await create(server, lines);
    while ((await levels(server))?.linesWaiting !== 1) await Bun.sleep(5);
    const running = await levels(server);
    expect(running?.batches.get("in_progress")).toBe(1);
    expect(running?.files.get("batch")).toEqual({ count: 1, bytes: Buffer.byteLength(jsonl(lines)) });
    gate.resolve();
    const done = await untilStatus(server, id, "completed");
    const written = await (await fetch(`${server.url}/v1/files/${done.output_file_id}/content`)).text();
    const after = await levels(server);
    expect([after?.linesWaiting, after?.batches.get("in_progress"), after?.batches.get("completed")]).toEqual([
      0, 0, 1,
    ]);
    expect(after?.files.get("batch_output")).toEqual({ count: 1, bytes: Buffer.byteLength(written) });
    const outcomes = server.metrics.calls.filter((call) => call.startsWith("line ")).sort();
    expect(outcomes).toEqual([...Array.from({ length: 4 }, () => "line completed"), "line failed"]);
  });

  test("count the lines that were never sent when their batch is cancelled", async () => {
    const server = serve({ steps: [{ wait: never }] });
    const { id } = await create(server, many(3));
    await cancel(server, id);
    await untilStatus(server, id, "cancelled");
    expect(server.metrics.calls.filter((call) => call === "line skipped")).toHaveLength(3);
  });

  test("omit a folder that cannot be read and report everything else", async () => {
    const dataDir = temporaryFolder();
    writeFileSync(join(dataDir, "jobs.sqlite"), "this is no database, whatever its name says".repeat(100));
    expect(await levels(on(dataDir))).toBeUndefined();
  });
});
