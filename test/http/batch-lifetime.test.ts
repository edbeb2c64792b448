// How batches end, what servers that stop or start do with them, and how long their data is kept.

import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Batch } from "../../src/contract/batches.ts";
import { temporaryFolder } from "../support/folders.ts";
import { until } from "../support/until.ts";
import {
  cancel,
  checkBatch,
  create,
  customIds,
  get,
  lineOf,
  many,
  never,
  on,
  output,
  untilStatus,
  upload,
} from "./batch-client.ts";
import { hello, messages, serve, testConfig } from "./harness.ts";

interface Failure {
  readonly error: { readonly code: string; readonly param: string | null; readonly message: string };
}

describe("cancelling", () => {
  const stuck = (overrides = {}) =>
    serve(({ maxTokens }) => (maxTokens === 1 ? { steps: [{ wait: never }] } : hello), overrides);
  const halfStuck = [...many(5), ...Array.from({ length: 20 }, (_, at) => lineOf(5 + at, { messages, max_tokens: 1 }))];

  test("keeps the answers, reports every other line as cancelled, and frees the engine", async () => {
    const server = stuck();
    const { id } = await create(server, halfStuck);
    while ((await get(server, id)).request_counts.completed < 5);
    const response = await cancel(server, id);
    expect(response.status).toBe(200);
    expect(["cancelling", "cancelled"]).toContain(checkBatch(await response.json()).status);
    const done = await untilStatus(server, id, "cancelled");
    expect(done.request_counts).toEqual({ total: 25, completed: 5, failed: 0 });
    expect([done.cancelling_at, done.cancelled_at]).toEqual([expect.any(Number), expect.any(Number)]);
    const lines = await output(server, done);
    expect(customIds(lines)).toEqual(customIds(halfStuck));
    expect(lines.filter(({ response, error }) => !response && error?.code === "batch_cancelled")).toHaveLength(20);
    await until(() => server.engine.live === 0);
  });

  test("works immediately after the batch was created", async () => {
    const server = stuck();
    const { id } = await create(server, halfStuck);
    expect((await cancel(server, id)).status).toBe(200);
    await untilStatus(server, id, "cancelled");
  });

  test("works while lines of megabytes, which are read when it is their turn, still wait", async () => {
    const server = stuck({ files: { ...testConfig.files, bytes: 10_000_000 } });
    const long = [{ role: "user", content: "x".repeat(1_500_000) }];
    const lines = [0, 1, 2].map((at) => lineOf(at, { messages: long, max_tokens: 1 }));
    const { id } = await create(server, lines);
    await until(() => server.engine.live > 0);
    expect((await cancel(server, id)).status).toBe(200);
    const done = await untilStatus(server, id, "cancelled");
    expect(customIds(await output(server, done))).toEqual(customIds(lines));
  });

  test("is 400 for a batch that has ended and 404 for an unknown one", async () => {
    const server = serve();
    const { id } = await create(server, many(1));
    await untilStatus(server, id, "completed");
    const late = await cancel(server, id);
    const { error } = (await late.json()) as Failure;
    expect([late.status, error.code, error.message]).toEqual([
      400,
      "invalid_value",
      expect.stringContaining("completed"),
    ]);
    expect((await get(server, id)).status).toBe("completed");
    const other = await cancel(server, "batch_none");
    expect([other.status, ((await other.json()) as Failure).error.code]).toEqual([404, "not_found"]);
  });
});

describe("the completion window of a batch", () => {
  test("ends it: the output has all answers, and reports every other line as expired", async () => {
    const server = serve(({ maxTokens }) => (maxTokens === 1 ? { steps: [{ wait: never }] } : hello));
    const lines = [...many(3), lineOf(3, { messages, max_tokens: 1 }), lineOf(4, { messages, max_tokens: 1 })];
    const { id } = await create(server, lines, {
      // Times have whole seconds, so one second could already be nearly over.
      completion_window: "2s",
      output_expires_after: { anchor: "created_at", seconds: 3600 },
    });
    const done = await untilStatus(server, id, "expired");
    expect(done.request_counts).toEqual({ total: 5, completed: 3, failed: 0 });
    const written = await output(server, done);
    expect(customIds(written)).toEqual(customIds(lines));
    expect(written.filter(({ error }) => error?.code === "batch_expired")).toHaveLength(2);
    const file = (await (await fetch(`${server.url}/v1/files/${done.output_file_id}`)).json()) as Record<
      string,
      number
    >;
    expect(file["expires_at"]).toBe((file["created_at"] ?? 0) + 3600);
  });
});

describe("a server that stops", () => {
  test("leaves a batch to the next server, which answers only the missing lines", async () => {
    const dataDir = temporaryFolder();
    const first = on(dataDir, ({ maxTokens }) => (maxTokens === 1 ? { steps: [{ wait: never }] } : hello));
    const lines = [...many(5), ...Array.from({ length: 20 }, (_, at) => lineOf(5 + at, { messages, max_tokens: 1 }))];
    const { id } = await create(first, lines);
    while ((await get(first, id)).request_counts.completed < 5);
    await first.stop();
    const second = on(dataDir);
    const done = await untilStatus(second, id, "completed");
    expect(done.request_counts).toEqual({ total: 25, completed: 25, failed: 0 });
    expect(second.engine.requests).toHaveLength(20);
    expect(customIds(await output(second, done))).toEqual(customIds(lines));
    await until(() => readdirSync(join(dataDir, "batches")).length === 0);
    expect(readdirSync(join(dataDir, "files"))).toHaveLength(2);
  });

  test("and one that shares its folder never answer the same line, and each can cancel the other's batch", async () => {
    const dataDir = temporaryFolder();
    const gate = Promise.withResolvers<void>();
    const script = () => ({ steps: [{ wait: gate.promise }, { text: "x" }] });
    const [one, other] = [on(dataDir, script), on(dataDir, script)];
    const { id } = await create(one, many(30));
    const second = await create(other, many(30));
    await untilStatus(one, second.id, "in_progress");
    await Bun.sleep(1200);
    expect((await cancel(one, second.id)).status).toBe(200);
    gate.resolve();
    const done = await untilStatus(other, id, "completed");
    await untilStatus(one, second.id, "cancelled");
    expect(customIds(await output(other, done))).toEqual(customIds(many(30)));
    const answered = [one, other].map(({ engine }) => engine.requests.filter(({ client }) => client === id).length);
    expect(answered.sort()).toEqual([0, 30]);
  }, 60_000);

  test("leaves a batch whose folder is unusable, which does not hold up the others", async () => {
    const dataDir = temporaryFolder();
    const first = on(dataDir, { steps: [{ wait: never }] });
    const [broken, other] = [await create(first, many(3)), await create(first, many(3))];
    await first.stop();
    rmSync(join(dataDir, "batches", broken.id), { recursive: true });
    writeFileSync(join(dataDir, "batches", broken.id), "");
    const second = on(dataDir);
    await untilStatus(second, other.id, "completed");
    expect((await get(second, broken.id)).status).toBe("in_progress");
    expect(second.log.lines).toContainEqual({
      level: "warn",
      message: "batch interrupted, retrying",
      fields: expect.objectContaining({ batch: broken.id, code: "storage_unavailable" }),
    });
  });
});

describe("files of a batch", () => {
  test("the input can be deleted while the batch runs", async () => {
    const gate = Promise.withResolvers<void>();
    const server = serve({ steps: [{ wait: gate.promise }, { text: "x" }] });
    const made = await create(server, many(30));
    await until(() => server.engine.live > 0);
    const deleted = await fetch(`${server.url}/v1/files/${made.input_file_id}`, { method: "DELETE" });
    expect(deleted.status).toBe(200);
    gate.resolve();
    expect((await untilStatus(server, made.id, "completed")).request_counts.completed).toBe(30);
  });

  test("a batch fails with a message when its folder was removed", async () => {
    const dataDir = temporaryFolder();
    const first = on(dataDir, { steps: [{ wait: never }] });
    const { id } = await create(first, many(3));
    await until(() => first.engine.live > 0);
    await first.stop();
    rmSync(join(dataDir, "batches", id), { recursive: true });
    const second = on(dataDir);
    const failed = await untilStatus(second, id, "failed");
    expect(failed.errors?.data[0]).toMatchObject({ code: "not_found", line: null });
    await until(() => !existsSync(join(dataDir, "batches", id)));
  });
});

describe("batches that have ended", () => {
  const keeping = (dataDir: string) =>
    serve(hello, { dataDir, files: { bytes: 1_000_000, lines: 1000, keepSeconds: null, keepBatchSeconds: 1 } });

  test("are listed until --keep-batches has passed, and as long as their output exists", async () => {
    const dataDir = temporaryFolder();
    const first = keeping(dataDir);
    const ids = [await create(first, many(1)), await create(first, many(1))].map(({ id }) => id);
    const [kept, left] = await Promise.all(ids.map((id) => untilStatus(first, id, "completed")));
    expect((await fetch(`${first.url}/v1/files/${left?.output_file_id}`, { method: "DELETE" })).status).toBe(200);
    expect((await get(first, left?.id ?? "")).output_file_id).toBe(left?.output_file_id ?? null);
    await first.stop();
    while (Math.floor(Date.now() / 1000) <= (left?.completed_at ?? 0)) await Bun.sleep(50);
    const second = keeping(dataDir);
    // The server looks for what has expired beside its first requests.
    await until(async () => (await fetch(`${second.url}/v1/batches/${left?.id}`)).status === 404);
    const list = (await (await fetch(`${second.url}/v1/batches`)).json()) as { data: Batch[] };
    expect(list.data.map(({ id }) => id)).toEqual([kept?.id ?? ""]);
    const gone = await fetch(`${second.url}/v1/batches/${left?.id}`);
    expect([gone.status, ((await gone.json()) as Failure).error.code]).toEqual([404, "not_found"]);
  });
});

describe("without space in the data folder", () => {
  /** KiB of the database before something is stored; each file and each batch takes 4 more. */
  const EMPTY = 32;

  test("a batch waits with the answers so far and goes on when there is space, without losing any", async () => {
    const server = serve(hello, { dataSize: (EMPTY + 12 + 14) / 1024 });
    const filler = await upload(server, `{"a":"${"x".repeat(10_000)}"}\n`);
    const waits = () =>
      server.log.lines.filter(({ fields }) => fields["code"] === "storage_full").map(({ fields }) => fields["batch"]);
    const { id } = await create(server, many(10));
    await until(() => waits().length > 0);
    expect(waits()).toEqual([id]);
    const waiting = await get(server, id);
    expect(waiting.status).toBe("in_progress");
    expect(waiting.request_counts.completed).toBeWithin(1, 10);

    await fetch(`${server.url}/v1/files/${filler}`, { method: "DELETE" });
    server.clock.pass(10_000);
    const done = await untilStatus(server, id, "completed");
    expect(done.request_counts).toEqual({ total: 10, completed: 10, failed: 0 });
    expect(customIds(await output(server, done))).toEqual(customIds(many(10)));
  });

  test("answers count with their size on disk, whatever their characters", async () => {
    const server = serve({ ...hello, steps: [{ text: "語".repeat(1000) }] }, { dataSize: 80 / 1024 });
    // Answers of 3.3 KB each.
    const { id } = await create(server, many(40));
    await until(() => server.log.lines.some(({ fields }) => fields["code"] === "storage_full"));
    expect((await get(server, id)).request_counts.completed).toBeWithin(1, 40);
  });

  test("cancelled lines count towards the space as well", async () => {
    const server = serve({ steps: [{ wait: never }] }, { dataSize: (EMPTY + 8 + 8) / 1024 });
    const { id } = await create(server, many(25));
    await untilStatus(server, id, "in_progress");
    expect((await cancel(server, id)).status).toBe(200);
    expect(await output(server, await untilStatus(server, id, "cancelled"))).toHaveLength(25);
    const refused = await fetch(`${server.url}/v1/files`, { method: "POST", body: `{"a":"${"x".repeat(3000)}"}\n` });
    expect([refused.status, ((await refused.json()) as Failure).error.code]).toEqual([507, "storage_full"]);
  });

  test("no batch can be created", async () => {
    const server = serve(hello, { dataSize: (EMPTY + 4 + 8) / 1024 });
    const input_file_id = await upload(server, `{"a":"${"x".repeat(8192 - 9)}"}\n`);
    const refused = await server.post("/v1/batches", { input_file_id, endpoint: "/v1/chat/completions" });
    const { error } = (await refused.json()) as Failure;
    expect([refused.status, error.code]).toEqual([507, "storage_full"]);
  });

  test("a batch can be cancelled", async () => {
    const server = serve(hello, { dataSize: (EMPTY + 12 + 8) / 1024 });
    await upload(server, `{"a":"${"x".repeat(5000)}"}\n`);
    const { id } = await create(server, many(10));
    await until(() => server.log.lines.some(({ fields }) => fields["code"] === "storage_full"));
    expect((await cancel(server, id)).status).toBe(200);
    const done = await untilStatus(server, id, "cancelled");
    expect(customIds(await output(server, done))).toEqual(customIds(many(10)));
  });
});
