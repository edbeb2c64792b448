import { afterAll, describe, expect, onTestFinished, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { nextTurn } from "../../src/domain/next-turn.ts";
import type { BatchStatus, NewBatch } from "../../src/store/batch-records.ts";
import { openJobDatabase, writeLightly } from "../../src/store/job-database.ts";
import { JobStore } from "../../src/store/job-store.ts";
import { isBusy } from "../../src/store/storage-error.ts";
import { ENTRY_BYTES } from "../../src/store/storage-quota.ts";

const folder = mkdtempSync(join(tmpdir(), "svc-jobs-"));
const opened: JobStore[] = [];
afterAll(() => {
  for (const store of opened) store.close();
  rmSync(folder, { recursive: true });
});

const HOUR = 3600;
const DAY = 24 * HOUR;
const NOW = Math.floor(Date.now() / 1000);
/** Bytes of the database before something is stored. */
const EMPTY = 32 * 1024;

function newStore(mostBytes?: number): JobStore {
  const store = new JobStore(mkdtempSync(join(folder, "store-")), mostBytes);
  opened.push(store);
  return store;
}

function addFile(store: JobStore, id: string, expiresAt: number | null = null, bytes = 3): void {
  writeFileSync(store.contentPath(id), "{}\n");
  store.files.add({ id, bytes, filename: "x.jsonl", purpose: "batch", createdAt: NOW, expiresAt });
}

function addBatch(store: JobStore, id: string, metadata: NewBatch["metadata"] = null): void {
  if (!store.files.has("input")) addFile(store, "input");
  store.addBatch({
    id,
    endpoint: "/v1/chat/completions",
    model: "m",
    inputFileId: "input",
    outputFileId: `${id}-output`,
    outputSeconds: null,
    window: "24h",
    createdAt: NOW,
    expiresAt: NOW + DAY,
    metadata,
  });
}

/** Ends a batch; its output is kept until `outputExpiresAt`. */
function end(store: JobStore, id: string, status: BatchStatus, at: number, outputExpiresAt: number | null): void {
  store.batches.advance(id, "validating", "in_progress", at);
  writeFileSync(store.outputPath(id), "{}\n");
  const batch = store.batches.get(id);
  if (!batch) throw new Error("there is no such batch");
  const output = { id: batch.outputFileId, bytes: 3, filename: "o", createdAt: at, expiresAt: outputExpiresAt };
  expect(store.handOver(batch, { ...output, purpose: "batch_output" }, status, at)).toBe(true);
  store.clear(id);
}

const page = (store: JobStore, after?: string) =>
  store.files.page({ limit: 2, order: "asc", after }, undefined, NOW).rows.map(({ id }) => id);

const SHM = "/dev/shm";
const isElsewhere = existsSync(SHM) && statSync(SHM).dev !== statSync(tmpdir()).dev;

describe.skipIf(!isElsewhere)("where the system has no hard links", () => {
  /** Returns a store whose batches are on another file system than its files. */
  function splitStore(mostBytes?: number): JobStore {
    const path = mkdtempSync(join(folder, "split-"));
    const batches = mkdtempSync(join(SHM, "svc-batches-"));
    onTestFinished(() => rmSync(batches, { recursive: true }));
    symlinkSync(batches, join(path, "batches"));
    const store = new JobStore(path, mostBytes);
    opened.push(store);
    return store;
  }

  test("a batch keeps its input, and its output becomes a file", () => {
    const store = splitStore();
    addFile(store, "input");
    chmodSync(store.contentPath("input"), 0o600);
    addBatch(store, "one");
    store.deleteFile("input", NOW);
    expect(statSync(store.inputPath("one")).mode & 0o777).toBe(0o600);
    expect(readFileSync(store.inputPath("one"), "utf8")).toBe("{}\n");
    end(store, "one", "completed", NOW, null);
    expect(readdirSync(dirname(store.contentPath("x")))).toEqual(["one-output"]);
    expect(readFileSync(store.contentPath("one-output"), "utf8")).toBe("{}\n");
  });

  test("a batch whose input finds no space is refused", async () => {
    const store = splitStore(5 + EMPTY + ENTRY_BYTES);
    addFile(store, "input");
    await store.quota.claim(1);
    expect(() => addBatch(store, "one")).toThrow("--data-size");
    expect([existsSync(store.inputPath("one")), store.batches.get("one")]).toEqual([false, undefined]);
  });
});

test("records of batches take space until they are removed", async () => {
  const store = newStore(EMPTY + 100 * ENTRY_BYTES);
  const hasSpace = (entries: number) =>
    store.quota.claim(entries * ENTRY_BYTES).then(
      () => true,
      (error: unknown) => !String(error).includes("--data-size"),
    );
  const ids = [];
  // Each has a folder and metadata of 9 KB.
  for (; ids.length < 100 && (await hasSpace(1)); ids.push(`b${ids.length}`)) {
    addBatch(store, `b${ids.length}`, { key: "x".repeat(9000) });
  }
  expect(ids.length).toBeWithin(15, 35);
  for (const id of ids) {
    store.batches.fail(id, [], NOW);
    store.clear(id);
  }
  await store.sweep(NOW + DAY - 1, DAY);
  expect(await hasSpace(70)).toBe(false);
  await store.sweep(NOW + DAY, DAY);
  expect(await hasSpace(70)).toBe(true);
});

describe("deleted and expired files", () => {
  test("can still be used as the start of a page for an hour", async () => {
    const store = newStore();
    for (const id of ["a", "b", "c", "d"]) addFile(store, id);
    expect(page(store)).toEqual(["a", "b"]);
    for (const id of ["a", "b"]) expect(store.deleteFile(id, NOW)).toBe(true);
    expect(store.deleteFile("a", NOW)).toBe(false);
    expect(page(store, "b")).toEqual(["c", "d"]);
    await store.sweep(NOW + HOUR - 1, null);
    expect(page(store, "b")).toEqual(["c", "d"]);
    await store.sweep(NOW + HOUR, null);
    expect(() => page(store, "b")).toThrow("'after' names nothing that is stored.");
    expect(readdirSync(join(store.contentPath("c"), "..")).sort()).toEqual(["c", "d"]);
  });

  test("lose their content at their expiry", async () => {
    const store = newStore();
    addFile(store, "short", NOW + 10);
    addFile(store, "long");
    await store.sweep(NOW + 9, null);
    expect(existsSync(store.contentPath("short"))).toBe(true);
    await store.sweep(NOW + 10, null);
    expect([existsSync(store.contentPath("short")), existsSync(store.contentPath("long"))]).toEqual([false, true]);
  });
});

test("a sweep of many files does not block the event loop, and removes only old leftovers", async () => {
  const store = newStore();
  for (const id of ["known", "old", "new"]) writeFileSync(store.contentPath(id), "{}\n");
  for (let file = 0; file < 2000; file++) writeFileSync(store.contentPath(`new ${file}`), "");
  const long = new Date((NOW - 2 * HOUR) * 1000);
  for (const id of ["known", "old"]) utimesSync(store.contentPath(id), long, long);
  store.files.add({ id: "known", bytes: 3, filename: "x", purpose: "batch", createdAt: NOW, expiresAt: null });
  let [turns, isOver] = [0, false];
  const others = (async () => {
    for (; !isOver; turns++) await nextTurn();
  })();
  await store.sweep(NOW, null);
  isOver = true;
  await others;
  expect(["known", "old", "new", "new 1999"].map((id) => existsSync(store.contentPath(id)))).toEqual([
    true,
    false,
    true,
    true,
  ]);
  expect(turns).toBeGreaterThan(15);
});

describe("batches that have ended", () => {
  const listed = (store: JobStore) =>
    store.batches.page({ limit: 100, order: "asc", after: undefined }).rows.map(({ id }) => id);

  test("are deleted when their time is over, however they ended, while running ones are kept", async () => {
    const store = newStore();
    for (const id of ["completed", "cancelled", "expired", "failed", "validating", "running"]) addBatch(store, id);
    for (const status of ["completed", "cancelled", "expired"] as const) end(store, status, status, NOW, NOW + HOUR);
    store.batches.fail("failed", [], NOW);
    store.batches.advance("running", "validating", "in_progress", NOW);
    await store.sweep(NOW + DAY - 1, DAY);
    expect(listed(store)).toHaveLength(6);
    await store.sweep(NOW + DAY, null);
    expect(listed(store)).toHaveLength(6);
    await store.sweep(NOW + DAY, DAY);
    expect(listed(store)).toEqual(["validating", "running"]);
    expect(existsSync(store.inputPath("running"))).toBe(true);
  });

  test("are kept as long as their output exists as a file", async () => {
    const store = newStore();
    for (const id of ["kept", "expiring", "deleted"]) addBatch(store, id);
    end(store, "kept", "completed", NOW, null);
    end(store, "expiring", "completed", NOW, NOW + 3 * DAY);
    end(store, "deleted", "completed", NOW, null);
    store.deleteFile("deleted-output", NOW + HOUR);
    await store.sweep(NOW + 2 * DAY, DAY);
    expect(listed(store)).toEqual(["kept", "expiring"]);
    await store.sweep(NOW + 3 * DAY, DAY);
    expect(listed(store)).toEqual(["kept"]);
  });
});

test("batches with work left come in order, as many as wanted, by whether lines are to be answered", () => {
  const store = newStore();
  const ids = ["a", "b", "c", "d", "e", "f"];
  for (const id of ids) addBatch(store, id);
  for (const id of ["b", "c", "e", "f"]) store.batches.advance(id, "validating", "in_progress", NOW);
  store.batches.advance("c", "in_progress", "cancelling", NOW);
  end(store, "d", "completed", NOW, null);
  expect(store.batches.toAnswer(NOW, 10)).toEqual(["b", "e", "f"]);
  expect(store.batches.toAnswer(NOW, 2)).toEqual(["b", "e"]);
  expect(store.batches.toSettle(NOW, 10)).toEqual(["a", "c"]);
  expect(store.batches.toAnswer(NOW + DAY, 10)).toEqual([]);
  expect(store.batches.toSettle(NOW + DAY, 3)).toEqual(["a", "b", "c"]);
});

test("totals count what is stored", () => {
  const store = newStore();
  addFile(store, "a", null, 100);
  addFile(store, "b", NOW + 10, 20);
  expect(store.files.totals(NOW).get("batch")).toEqual({ count: 2, bytes: 120 });
  expect(store.files.totals(NOW + 10).get("batch")).toEqual({ count: 1, bytes: 100 });
  for (const id of ["x", "y", "z"]) addBatch(store, id);
  const usage = { promptTokens: 0, cachedTokens: 0, completionTokens: 0, reasoningTokens: 0 };
  for (const id of ["x", "y"]) {
    store.batches.setProgress(id, { total: 10, completed: 3, failed: 1, usage });
    store.batches.advance(id, "validating", "in_progress", NOW);
  }
  expect(store.batches.linesWaiting()).toBe(12);
  store.batches.fail("x", [], NOW);
  expect(store.batches.linesWaiting()).toBe(6);
  expect([...store.batches.counts()].sort()).toEqual([
    ["failed", 1],
    ["in_progress", 1],
    ["validating", 1],
  ]);
});

describe("a database shared by several processes", () => {
  /** Starts another process that takes a lock, reports that, and releases it after `milliseconds`. */
  const holder = (path: string, milliseconds: number) =>
    Bun.spawn(
      [
        process.execPath,
        "-e",
        `const { Database } = require("bun:sqlite"); const database = new Database(${JSON.stringify(path)}, { create: true });
         database.run("PRAGMA busy_timeout = 5000"); database.run("BEGIN IMMEDIATE"); console.log("held");
         setTimeout(() => { database.run("COMMIT"); process.exit(); }, ${milliseconds});`,
      ],
      { stdout: "pipe" },
    );

  test("waits for a process that is creating it", async () => {
    const path = join(mkdtempSync(join(folder, "new-")), "jobs.sqlite");
    const other = holder(path, 300);
    await other.stdout.getReader().read();
    openJobDatabase(path).close();
    expect(await other.exited).toBe(0);
  });

  test("performs light writes at once or not at all, and normal writes when the other process is done", async () => {
    const path = join(mkdtempSync(join(folder, "used-")), "jobs.sqlite");
    const database = openJobDatabase(path);
    const setting = (name: string) => Object.values(database.query(`PRAGMA ${name}`).get() as object)[0];
    const write = () => void database.query("DELETE FROM files").run();
    const other = holder(path, 300);
    await other.stdout.getReader().read();
    let thrown: unknown;
    try {
      writeLightly(database, write);
    } catch (error) {
      thrown = error;
    }
    expect(isBusy(thrown)).toBe(true);
    expect([setting("busy_timeout"), setting("synchronous")]).toEqual([5000, 2]);
    write();
    writeLightly(database, write);
    expect(await other.exited).toBe(0);
    database.close();
  });
});

describe("file permissions", () => {
  const rights = (path: string) => (statSync(path).mode & 0o777).toString(8);
  const parts = ["jobs.sqlite", "jobs.sqlite-wal", "jobs.sqlite-shm", "files", "batches"];
  const own = ["600", "600", "600", "700", "700"];

  test("are restricted to the owner", () => {
    const path = join(mkdtempSync(join(folder, "rights-")), "made");
    opened.push(new JobStore(path));
    expect([rights(path), ...parts.map((part) => rights(join(path, part)))]).toEqual(["700", ...own]);
  });

  test("are restricted in an existing folder as well", () => {
    const path = mkdtempSync(join(folder, "rights-"));
    opened.push(new JobStore(path));
    for (const part of parts) chmodSync(join(path, part), part.includes("sqlite") ? 0o644 : 0o755);
    opened.push(new JobStore(path));
    expect(parts.map((part) => rights(join(path, part)))).toEqual(own);
  });
});
