import { beforeEach, expect, spyOn, test } from "bun:test";
import { linkSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SvcError } from "../../src/domain/errors.ts";
import { nextTurn } from "../../src/domain/next-turn.ts";
import { JobStore } from "../../src/store/job-store.ts";
import { ENTRY_BYTES, StorageQuota } from "../../src/store/storage-quota.ts";
import { sharedFolder } from "../support/folders.ts";

const MIB = 2 ** 20;
const folder = sharedFolder();
beforeEach(() => {
  for (const name of ["files", "batches"]) rmSync(join(folder, name), { recursive: true, force: true });
  for (const name of ["files", "batches/one"]) mkdirSync(join(folder, name), { recursive: true });
});
/** Scanning takes no time on this clock. */
const still = () => 0;
const put = (name: string, bytes: number) => writeFileSync(join(folder, name), new Uint8Array(bytes));

test("stored and claimed bytes share the quota, and removing files frees it", async () => {
  const quota = new StorageQuota(folder, MIB, undefined, { now: still });
  put("files/a", MIB / 2);
  put("batches/one/output.jsonl", MIB / 4);
  // One content with two names.
  linkSync(join(folder, "files/a"), join(folder, "batches/one/input.jsonl"));
  // Besides their contents, two files and a batch count.
  await quota.claim(MIB / 4 - 2 * ENTRY_BYTES);
  put("files/b", MIB / 4 - 3 * ENTRY_BYTES);
  const full =
    "Files and batches may take 1 MiB (--data-size) and take 1.0 MiB, 0.0 MiB of it for records: delete files first.";
  await expect(quota.claim(1)).rejects.toThrow(new SvcError("storage_full", full));
  rmSync(join(folder, "files/b"));
  await quota.claim(MIB / 4 - 2 * ENTRY_BYTES);
});

test("many small files take what they take on a disk, and records count", async () => {
  for (let file = 0; file < 9; file++) put(`files/${file}`, 2);
  let records = 0;
  const quota = new StorageQuota(folder, 11 * ENTRY_BYTES, undefined, { records: () => records, now: still });
  records = ENTRY_BYTES - 18;
  await quota.claim(0);
  await expect(quota.claim(1)).rejects.toThrow("--data-size");
  records -= 1;
  await quota.claim(1);
});

test("where records alone take the quota, the error does not advise to delete files", async () => {
  const quota = new StorageQuota(folder, MIB, undefined, { records: () => MIB, now: still });
  const full =
    "Files and batches may take 1 MiB (--data-size) and take 1.0 MiB, 1.0 MiB of it for records: raise --data-size or lower --keep-batches.";
  await expect(quota.claim(1)).rejects.toThrow(new SvcError("storage_full", full));
});

test("claims beyond the quota do not scan all contents each time", async () => {
  put("files/c", MIB);
  let time = 0;
  // Each scan takes 10 ms.
  const quota = new StorageQuota(folder, MIB, undefined, { now: () => (time += 10) });
  await expect(quota.claim(1)).rejects.toThrow(SvcError);
  rmSync(join(folder, "files/c"));
  for (const waited of [0, 150]) {
    time += waited;
    await expect(quota.claim(1)).rejects.toThrow(SvcError);
  }
  time += 50;
  await quota.claim(1);
});

test("the bytes of a deleted file are free at once if that was its last name", async () => {
  put("files/d", MIB / 2 - ENTRY_BYTES);
  put("files/e", MIB / 2 - 2 * ENTRY_BYTES);
  linkSync(join(folder, "files/e"), join(folder, "batches/one/input.jsonl"));
  let time = 0;
  const quota = new StorageQuota(folder, MIB, undefined, { now: () => (time += 10) });
  await expect(quota.claim(1)).rejects.toThrow(SvcError);
  for (const name of ["files/d", "files/e"]) {
    quota.release(join(folder, name));
    rmSync(join(folder, name));
  }
  await quota.claim(MIB / 2 + ENTRY_BYTES);
  await expect(quota.claim(1)).rejects.toThrow(SvcError);
});

test("scanning many files does not block the event loop, and misses nothing that is written meanwhile", async () => {
  for (let file = 0; file < 2000; file++) put(`files/${file}`, 1);
  let time = 0;
  const quota = new StorageQuota(folder, 2010 + 2001 * ENTRY_BYTES, undefined, { now: () => (time += 10) });
  let [turns, isOver] = [0, false];
  const others = (async () => {
    for (; !isOver; turns++) await nextTurn();
  })();
  const claims = Array.from({ length: 3 }, () => quota.claim(2));
  quota.take(2);
  await Promise.all(claims);
  isOver = true;
  await others;
  expect(turns).toBeGreaterThan(10);
  await quota.claim(2);
  await expect(quota.claim(1)).rejects.toThrow("--data-size");
});

test("the disk keeps a reserve of 256 MiB or 2 %, whichever is less", async () => {
  for (const [bytes, reserve] of [
    [100 * 1024 * MIB, 256 * MIB],
    [100 * MIB, 2 * MIB],
  ] as const) {
    let freeBytes = reserve + 1000;
    const quota = new StorageQuota(folder, 2 * MIB, undefined, { disk: () => ({ freeBytes, bytes }) });
    await quota.claim(1000);
    const full = `The disk that holds the server's data is full: ${reserve / MIB}.0 MiB of it must stay free. Free some space, then try again.`;
    await expect(quota.claim(1001)).rejects.toThrow(new SvcError("storage_full", full));
    quota.take(1001);
    freeBytes += 1;
    await quota.claim(1001);
  }
});

test("files of another server are noticed at the next scan", async () => {
  const quota = new StorageQuota(folder, MIB);
  await quota.claim(1);
  put("files/theirs", MIB);
  quota.forget();
  await expect(quota.claim(1)).rejects.toThrow(SvcError);
});

test("servers on one folder keep its quota together, to within what they write in 5 s", async () => {
  const data = join(folder, "shared");
  // With an empty database.
  const most = MIB + 32 * 1024 + 3 * ENTRY_BYTES;
  let time = 0;
  const now = spyOn(performance, "now").mockImplementation(() => time);
  const [mine, theirs] = [new JobStore(data, most), new JobStore(data, most)];
  const write = async (store: JobStore, id: string) => {
    const bytes = MIB / 4;
    await store.quota.claim(bytes);
    writeFileSync(store.contentPath(id), new Uint8Array(bytes));
    store.files.add({ id, bytes, filename: id, purpose: "ocr", createdAt: 1, expiresAt: null });
  };
  try {
    for (const id of ["a", "b"]) await write(mine, id);
    for (const id of ["c", "d"]) await write(theirs, id);
    time += 5000;
    await expect(mine.quota.claim(1)).rejects.toThrow(SvcError);
  } finally {
    now.mockRestore();
    mine.close();
    theirs.close();
  }
});

test("a server alone on its folder does not scan it again", async () => {
  const data = join(folder, "alone");
  let time = 0;
  const now = spyOn(performance, "now").mockImplementation(() => time);
  const store = new JobStore(data, MIB);
  try {
    await store.quota.claim(1);
    store.files.add({ id: "a", bytes: 1, filename: "a", purpose: "ocr", createdAt: 1, expiresAt: null });
    store.files.add({ id: "b", bytes: 1, filename: "b", purpose: "ocr", createdAt: 1, expiresAt: null });
    writeFileSync(store.contentPath("a"), new Uint8Array(MIB));
    writeFileSync(store.contentPath("b"), new Uint8Array(1));
    time += 5000;
    store.deleteFile("b", 2);
    await store.quota.claim(1);
  } finally {
    now.mockRestore();
    store.close();
  }
});

test("removing a file of another server does not free its bytes twice", async () => {
  let time = 0;
  const quota = new StorageQuota(folder, MIB, () => true, { now: () => time });
  await quota.claim(MIB / 4);
  put("files/mine", MIB / 4);
  put("files/theirs", MIB / 2);
  quota.release(join(folder, "files/theirs"));
  rmSync(join(folder, "files/theirs"));
  time += 1;
  await quota.claim(MIB / 2);
  put("files/another", MIB / 2);
  await expect(quota.claim(MIB / 2)).rejects.toThrow(SvcError);
});
