import { expect, onTestFinished, setDefaultTimeout, spyOn, test } from "bun:test";
import { readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { BatchEndpoint } from "../../../src/contract/batches.ts";
import { systemClock } from "../../../src/domain/clock.ts";
import { SvcError } from "../../../src/domain/errors.ts";
import { pause } from "../../../src/domain/pause.ts";
import type { AnswerLine } from "../../../src/service/batch/answer-line.ts";
import { BatchesService } from "../../../src/service/batch/batches.ts";
import { JobFolder } from "../../../src/service/batch/job-folder.ts";
import { JobStore } from "../../../src/store/job-store.ts";
import { temporaryFolder } from "../../support/folders.ts";
import { RecordingLog } from "../../support/recording-log.ts";
import { until } from "../../support/until.ts";

const PATIENCE_MS = 60_000;
setDefaultTimeout(3 * PATIENCE_MS);

const ENDPOINT = "/v1/chat/completions";
const INPUT = "file-input";
/** More than a server keeps locked while they wait. */
const MANY = 210;

const CALL = {
  inputFileId: INPUT,
  endpoint: ENDPOINT,
  window: "24h",
  windowSeconds: 86_400,
  metadata: null,
} as const;
const ANSWER = { usage: { prompt_tokens: 1, completion_tokens: 1 } } as Awaited<ReturnType<AnswerLine>>;

/** Starts to run batches of these lines, as the server of `svc launch` does: only its own. The bodies are the ids. */
function start(answer: AnswerLine, ids: readonly string[] = ["a"]) {
  const path = temporaryFolder();
  const folder = new JobFolder(path, Infinity);
  const store = folder.open();
  const line = (id: string) => JSON.stringify({ custom_id: id, method: "POST", url: ENDPOINT, body: { id } });
  const content = ids.map(line).join("\n");
  writeFileSync(store.contentPath(INPUT), content);
  const file = { id: INPUT, bytes: content.length, filename: "x", createdAt: 1, expiresAt: null };
  store.files.add({ ...file, purpose: "batch" });
  const batches = new BatchesService({
    folder,
    clock: systemClock,
    pause: (ms, signal) => pause(ms / 50, signal),
    log: new RecordingLog(),
    metrics: { batchLineEnded: () => {} },
    keepSeconds: null,
    keepBatchSeconds: null,
    maxLines: 40,
    linesAtOnce: 4,
    answers: { [ENDPOINT]: answer } as Record<BatchEndpoint, AnswerLine>,
    onUnexpected: (error) => {
      throw error;
    },
  });
  batches.start();
  onTestFinished(() => batches.stop());
  return { batches, path, store };
}

/** Has the store refuse to remove the folder of a locked batch, as Windows does. */
function keepOpenFiles(store: JobStore): void {
  const [lock, clear] = [store.lock.bind(store), store.clear.bind(store)];
  const locked = new Set<string>();
  spyOn(store, "lock").mockImplementation((id) => {
    const unlock = lock(id);
    if (!unlock) return undefined;
    locked.add(id);
    return () => {
      locked.delete(id);
      unlock();
    };
  });
  spyOn(store, "clear").mockImplementation((id) => {
    if (locked.has(id)) throw Object.assign(new Error("EBUSY"), { code: "EBUSY" });
    clear(id);
  });
}

test("a server answers all batches that were created on it, and keeps others from the first of them", async () => {
  const gate = Promise.withResolvers<void>();
  const { batches, path } = start(async () => {
    await gate.promise;
    return ANSWER;
  });
  const ids: string[] = [];
  for (let made = 0; made < MANY; made++) ids.push((await batches.create(CALL, "m")).id);
  const other = new JobStore(path);
  onTestFinished(() => other.close());
  const isFree = (id: string) => {
    const unlock = other.lock(id);
    unlock?.();
    return unlock !== undefined;
  };
  const areAll = (status: string) => ids.every((id) => batches.get(id).status === status);
  expect(ids.filter(isFree).length).toBeGreaterThan(0);
  expect(ids.slice(0, 150).filter(isFree)).toEqual([]);
  await until(() => areAll("in_progress"), PATIENCE_MS);
  gate.resolve();
  await until(() => areAll("completed"), PATIENCE_MS);
});

test("lines that crash the engine at each attempt fail alone, however many they are", async () => {
  const crash = new SvcError("engine_crashed", "The engine crashed.");
  const restarting = new SvcError("engine_unavailable", "The engine is restarting.");
  const computed = new Set<(error: SvcError) => void>();
  let calls = 0;
  const { batches } = start(
    async (body) => {
      if (++calls % 3 === 0) throw restarting;
      const { promise, resolve, reject } = Promise.withResolvers<typeof ANSWER>();
      computed.add(reject);
      const isBad = Number(body["id"]) % 2 === 1;
      const end = () => (isBad ? [...computed].forEach((fail) => fail(crash)) : resolve(ANSWER));
      setTimeout(() => computed.has(reject) && end(), isBad ? 4 : 20);
      return promise.finally(() => computed.delete(reject));
    },
    Array.from({ length: 40 }, (_, at) => String(at)),
  );
  const created = await Promise.all([1, 2, 3, 4].map(() => batches.create(CALL, "m")));
  const all = () => created.map(({ id }) => batches.get(id));
  await until(() => all().every(({ status }) => status === "completed"), PATIENCE_MS);
  expect(all().map(({ completed, failed }) => [completed, failed])).toEqual(Array(4).fill([20, 20]));
});

test("an upstream that falls silent at each attempt does not hold up other lines", async () => {
  const silent = new SvcError("upstream_unavailable", "The upstream was silent.", { sent: true });
  const last = Promise.withResolvers<void>();
  let attempts = 0;
  const { batches } = start(
    async (body) => {
      if (body["id"] === "good") {
        await last.promise;
        return ANSWER;
      }
      if (++attempts === 3) last.resolve();
      throw silent;
    },
    ["bad", "good"],
  );
  const { id } = await batches.create(CALL, "m");
  await until(() => batches.get(id).status === "completed", PATIENCE_MS);
  expect(batches.get(id)).toMatchObject({ completed: 1, failed: 1 });
});

test("a batch that has ended or cannot be created leaves nothing behind, also where open files cannot be removed", async () => {
  const { batches, path, store } = start(async () => ANSWER);
  keepOpenFiles(store);
  const { id } = await batches.create(CALL, "m");
  await until(() => batches.get(id).status === "completed", PATIENCE_MS);
  await until(() => readdirSync(join(path, "batches")).length === 0, PATIENCE_MS);
  rmSync(store.contentPath(INPUT));
  const failed = await batches.create(CALL, "m").catch((error: unknown) => error);
  expect(failed).toMatchObject({ code: "storage_unavailable" });
  expect(readdirSync(join(path, "batches"))).toEqual([]);
});

test("cancelling a batch whose lines are being checked fails with shutting_down when the server stops", async () => {
  const { batches } = start(async () => ANSWER);
  const { id } = await batches.create(CALL, "m");
  const cancelled = batches.cancel(id).catch((error: unknown) => error);
  await batches.stop();
  expect(await cancelled).toMatchObject({ code: "shutting_down" });
});

test("a server stops without a failure while lines are computed, or wait for a place or for another attempt", async () => {
  const unreachable = new SvcError("upstream_unavailable", "The upstream cannot be reached.");
  let computed = 0;
  const ids = ["unreachable", "a", "b", "c", "d", "e", "f"];
  const { batches } = start(async ({ id }, _, signal) => {
    if (id === "unreachable") throw unreachable;
    computed++;
    await pause(PATIENCE_MS, signal);
    return ANSWER;
  }, ids);
  const created = await Promise.all([1, 2].map(() => batches.create(CALL, "m")));
  const statuses = () => created.map(({ id }) => batches.get(id).status);
  await until(() => computed === 4 && statuses().every((status) => status === "in_progress"), PATIENCE_MS);
  await batches.stop();
  expect(statuses()).toEqual(["in_progress", "in_progress"]);
});
