// What a killed server leaves in the data folder at each step of a batch, and how the next server goes on.

import { describe, expect, test } from "bun:test";
import { appendFileSync, linkSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { answeredLine, skippedLine } from "../../src/dialect/batches/output-line.ts";
import type { ChatCompletion } from "../../src/contract/chat.ts";
import { systemClock } from "../../src/domain/clock.ts";
import { Gateway } from "../../src/gateway/gateway.ts";
import { Replica } from "../../src/gateway/replica.ts";
import { Upstream } from "../../src/gateway/upstream.ts";
import { JobStore } from "../../src/store/job-store.ts";
import { fixtureServer, helloStream, modelList } from "../gateway/fixture-server.ts";
import { temporaryFolder } from "../support/folders.ts";
import { RecordingLog } from "../support/recording-log.ts";
import { TestClock } from "../support/test-clock.ts";
import { customIds, get, jsonl, many, on, output, untilStatus } from "./batch-client.ts";
import { hello, messages, serve, type TestServer } from "./harness.ts";
import { until } from "../support/until.ts";

const LINES = 6;
const ID = "batch_killed";
const OUTPUT = "file-output";

const body = { usage: { prompt_tokens: 1, completion_tokens: 1 } } as ChatCompletion;
const answered = (count: number) =>
  jsonl(many(count).map(({ custom_id }) => answeredLine({ id: "a", customId: custom_id, requestId: "r" }, body)));
const skipped = (index: number, code: "batch_cancelled" | "batch_expired") =>
  jsonl([skippedLine("s", `line-${index}`, code)]);

const USUAL = "/v1/chat/completions";

/**
 * Makes a data folder with a new batch of these lines that is valid until `expiresAt`; `work` is what the server did
 * before it was killed.
 */
function killedAfter(
  work: (store: JobStore) => void,
  expiresAt = 4_000_000_000,
  endpoint = USUAL,
  lines: readonly object[] = many(LINES),
): string {
  const dataDir = temporaryFolder();
  const store = new JobStore(dataDir);
  const now = Math.floor(Date.now() / 1000);
  const content = jsonl(lines);
  writeFileSync(store.contentPath("file-input"), content);
  const input = { id: "file-input", bytes: content.length, filename: "x", createdAt: now, expiresAt: null };
  store.files.add({ ...input, purpose: "batch" });
  store.addBatch({
    id: ID,
    endpoint,
    model: "fake-model",
    inputFileId: "file-input",
    outputFileId: OUTPUT,
    outputSeconds: null,
    window: "24h",
    createdAt: now,
    expiresAt,
    metadata: null,
  });
  work(store);
  store.close();
  return dataDir;
}

/**
 * Expects the batch to reach `status`, with exactly `asked` lines answered after the kill, as counted by `count`.
 * `skipped`: lines that are never processed.
 */
async function goesOn(
  dataDir: string,
  status: string,
  asked: number,
  skipped = 0,
  count = ({ engine }: TestServer) => engine.requests.length,
): Promise<void> {
  const server = on(dataDir);
  const done = await untilStatus(server, ID, status);
  expect(done.request_counts).toEqual({ total: LINES, completed: LINES - skipped, failed: 0 });
  expect(done.output_file_id).toBe(OUTPUT);
  expect(customIds(await output(server, done))).toEqual(customIds(many(LINES)));
  expect(count(server)).toBe(asked);
  await server.stop();
  expect(readdirSync(join(dataDir, "batches"))).toEqual([]);
  expect(readdirSync(join(dataDir, "files")).sort()).toEqual(["file-input", OUTPUT]);
}

const begin = (store: JobStore) => {
  const usage = { promptTokens: 0, cachedTokens: 0, completionTokens: 0, reasoningTokens: 0 };
  store.batches.setProgress(ID, { total: LINES, completed: 0, failed: 0, usage });
  store.batches.advance(ID, "validating", "in_progress", 1);
};

describe("a batch resumes after the server was killed", () => {
  test("before any line was validated", () =>
    goesOn(
      killedAfter(() => {}),
      "completed",
      LINES,
    ));

  test("before a line was answered", () => goesOn(killedAfter(begin), "completed", LINES));

  test.each([
    [USUAL, { messages }, ({ engine }: TestServer) => engine.requests.length],
    ["/v1/completions", { prompt: "Once" }, ({ engine }: TestServer) => engine.requests.length],
    ["/v1/responses", { input: "hi" }, ({ engine }: TestServer) => engine.requests.length],
    ["/v1/embeddings", { input: "hi" }, ({ embedders }: TestServer) => embedders[0]?.asked.length ?? 0],
    ["/v1/audio/transcriptions", { data: "AAAA" }, ({ transcriber }: TestServer) => transcriber.asked.length],
  ])("in the middle of writing a line of the output, for %s", (endpoint, lineBody, count) =>
    goesOn(
      killedAfter(
        (store) => {
          begin(store);
          writeFileSync(store.outputPath(ID), answered(4).slice(0, -20));
        },
        undefined,
        endpoint,
        many(LINES).map((line) => ({ ...line, url: endpoint, body: lineBody })),
      ),
      "completed",
      LINES - 3,
      0,
      count,
    ),
  );

  test.each([true, false])(
    "before an upstream had listed the model of its lines, for which they wait (beside a local model: %p)",
    async (serveModel) => {
      const gate = Promise.withResolvers<void>();
      const far = fixtureServer(async ({ path }) => {
        if (path === "/v1/chat/completions") return helloStream();
        await gate.promise;
        return path === "/v1/models" ? Response.json(modelList("far")) : undefined;
      });
      const replica = new Replica({ url: far.url }, { connectMs: 1000, silenceMs: 5000 }, systemClock);
      const configured = [new Upstream("up", [replica], true)];
      const gateway = new Gateway({ configured, clock: systemClock, log: new RecordingLog() });
      const started = gateway.start();
      const lines = many(LINES).map((line) => ({ ...line, body: { messages, model: "far" } }));
      const dataDir = killedAfter(begin, undefined, USUAL, lines);
      const server = serve(hello, { dataDir, serveModel }, [gateway]);
      await Bun.sleep(200);
      expect((await get(server, ID)).request_counts).toEqual({ total: LINES, completed: 0, failed: 0 });
      gate.resolve();
      await started;
      gateway.stop();
      const done = await untilStatus(server, ID, "completed");
      expect(done.request_counts).toEqual({ total: LINES, completed: LINES, failed: 0 });
      expect(server.engine.requests).toEqual([]);
      expect(far.asked.filter(({ path }) => path === "/v1/chat/completions")).toHaveLength(LINES);
    },
  );

  test("and does not wait for ever for an upstream that is off, as a name may be another service's", async () => {
    const off = fixtureServer(() => undefined);
    await off.stop();
    const replica = new Replica({ url: off.url }, { connectMs: 1000, silenceMs: 5000 }, systemClock);
    const [clock, log] = [new TestClock(), new RecordingLog()];
    const gateway = new Gateway({ configured: [new Upstream("laptop", [replica], true)], clock, log });
    const lines = many(LINES).map((line) => ({ ...line, body: { messages, model: "gpt-4o-mini" } }));
    const dataDir = killedAfter(begin, undefined, USUAL, lines);
    const server = serve(hello, { dataDir }, [gateway]);
    await until(() => log.lines.length > 0);
    clock.pass(599_000);
    await Bun.sleep(300);
    expect((await get(server, ID)).request_counts).toEqual({ total: LINES, completed: 0, failed: 0 });
    clock.pass(2000);
    await untilStatus(server, ID, "completed");
    expect(server.engine.requests).toHaveLength(LINES);
    expect(log.lines.map(({ message, fields }) => [message, fields["upstream"]])).toEqual([
      ["batch lines with unknown models wait for an upstream's models", "laptop"],
    ]);
  });

  test("after the last line", () =>
    goesOn(
      killedAfter((store) => {
        begin(store);
        writeFileSync(store.outputPath(ID), answered(LINES));
      }),
      "completed",
      0,
    ));

  test("while it was finishing, with the output in place but not recorded", () =>
    goesOn(
      killedAfter((store) => {
        begin(store);
        writeFileSync(store.outputPath(ID), answered(LINES));
        store.batches.advance(ID, "in_progress", "finalizing", 1);
        linkSync(store.outputPath(ID), store.contentPath(OUTPUT));
      }),
      "completed",
      0,
    ));

  test("while it was cancelling, with some lines skipped", () =>
    goesOn(
      killedAfter((store) => {
        begin(store);
        writeFileSync(store.outputPath(ID), answered(2) + skipped(2, "batch_cancelled"));
        store.batches.advance(ID, "in_progress", "cancelling", 1);
      }),
      "cancelled",
      0,
      LINES - 2,
    ));

  test("after a cancel that came when every line was answered", () =>
    goesOn(
      killedAfter((store) => {
        begin(store);
        writeFileSync(store.outputPath(ID), answered(LINES));
        store.batches.advance(ID, "in_progress", "cancelling", 1);
      }),
      "cancelled",
      0,
    ));

  test("while it ended an expired batch", () =>
    goesOn(
      killedAfter((store) => {
        begin(store);
        writeFileSync(store.outputPath(ID), answered(2));
        appendFileSync(store.outputPath(ID), skipped(2, "batch_expired"));
      }, 1),
      "expired",
      0,
      LINES - 2,
    ));

  test("while it ended an expired batch whose last line it had written, and the clock was set back", () =>
    goesOn(
      killedAfter((store) => {
        begin(store);
        const rest = [2, 3, 4, 5].map((at) => skipped(at, "batch_expired"));
        writeFileSync(store.outputPath(ID), answered(2) + rest.join(""));
      }),
      "expired",
      0,
      LINES - 2,
    ));

  test("before an expired batch had begun", () =>
    goesOn(
      killedAfter(() => {}, 1),
      "expired",
      0,
      LINES,
    ));

  test("after the end, before it had cleaned up", async () => {
    const dataDir = killedAfter((store) => {
      begin(store);
      writeFileSync(store.outputPath(ID), answered(LINES));
      store.batches.advance(ID, "in_progress", "finalizing", 1);
      const batch = store.batches.get(ID);
      if (!batch) throw new Error("there is no such batch");
      const file = { id: OUTPUT, bytes: answered(LINES).length, filename: "o", createdAt: 1, expiresAt: null };
      store.handOver(batch, { ...file, purpose: "batch_output" }, "completed", 1);
    });
    expect(readdirSync(join(dataDir, "batches"))).toEqual([ID]);
    const server = on(dataDir);
    expect((await get(server, ID)).status).toBe("completed");
    await until(() => readdirSync(join(dataDir, "batches")).length === 0);
    expect(server.engine.requests).toEqual([]);
  });
});
