// Conversations as files: whatever happens to the files, a read returns what was written, or nothing.

import { beforeEach, describe, expect, test } from "bun:test";
import { readFileSync, readdirSync, rmSync, statSync, truncateSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { KvDisk } from "../../src/engine/text/child/kv-disk.ts";
import type { CachedPrefix, Prefix } from "../../src/scheduler/kv/prefix-index.ts";
import { fileBytes } from "../../src/engine/text/child/kv-file.ts";
import { kvFingerprint } from "../../src/engine/text/child/kv-fingerprint.ts";
import { KvFolder } from "../../src/engine/text/child/kv-folder.ts";
import { temporaryFolder } from "../support/folders.ts";
import { killAtExit } from "../support/kill-at-exit.ts";
import { Random } from "../support/random.ts";
import { FINGERPRINT, large } from "./fixtures/kv-entries.ts";

const MIB = 2 ** 20;
let path: string;

beforeEach(() => void (path = temporaryFolder()));

const folder = (limitBytes = 64 * MIB, fingerprint = FINGERPRINT) => new KvFolder({ path, limitBytes, fingerprint });
const entry = (from: number, tokens = 300): Prefix => ({
  ids: Int32Array.from({ length: tokens }, (_, at) => from + at),
  adapterKey: ["", "a:1", "a:0.5 b:1"][from % 3] ?? "",
  media: from % 2 === 0 ? [] : [{ start: 5, tokens: 20, positions: 4, whole: true }],
});
const bytes = (length: number, seed: number) => {
  const random = new Random(seed);
  return Uint8Array.from({ length }, () => random.integer(0, 255));
};
const parts = (seed: number) => [bytes(1000, seed), bytes(0, seed), bytes(333, seed + 1)];
const files = () => readdirSync(path).sort();
const fileOf = () => join(path, files()[0] ?? "");

describe("a file", () => {
  test("returns what was written, also to a later process, and is readable by its owner only", async () => {
    await folder().write(entry(1), parts(1));
    await folder().write(entry(2), parts(2));
    const later = folder();
    const { entries, damaged } = await later.index();
    expect([entries.size, damaged]).toEqual([2, 0]);
    for (const found of entries.values()) {
      const seed = found.ids[0] ?? 0;
      expect(found).toEqual(entry(seed));
      expect(await later.read(found)).toEqual(parts(seed));
    }
    for (const name of files()) expect(statSync(join(path, name)).mode & 0o777).toBe(0o600);
  });

  test("of many megabytes is stored completely", async () => {
    const large = [bytes(9 * MIB + 5, 1), bytes(4 * MIB, 2)];
    await folder().write(entry(1), large);
    const read = await folder().read(entry(1));
    expect(read?.map((part, at) => Buffer.compare(part, large[at] ?? part))).toEqual([0, 0]);
  });

  test("is not read for other tokens, other adapters, other media or another fingerprint", async () => {
    await folder().write(entry(1), parts(1));
    const changed = { ...entry(1), ids: entry(1).ids.with(299, 0) };
    expect(await folder().read(changed)).toBeUndefined();
    expect(await folder().read({ ...entry(1), media: [] })).toBeUndefined();
    expect(await folder().read({ ...entry(1), adapterKey: "a:0.5" })).toBeUndefined();
    const other = folder(64 * MIB, new Uint8Array(32).fill(8));
    expect((await other.index()).entries.size).toBe(0);
    expect(await other.read(entry(1))).toBeUndefined();
    // Files of other servers are left alone.
    expect(files().length).toBe(1);
  });

  test("under the name of another conversation is not used", async () => {
    await folder().write(entry(1), parts(1));
    const wrong = folder().nameOf(entry(2));
    writeFileSync(join(path, wrong), readFileSync(fileOf()));
    expect(await folder().read(entry(2))).toBeUndefined();
    expect((await folder().index()).entries.size).toBe(1);
  });

  test("with any damage yields nothing and is removed", async () => {
    const random = new Random(5);
    for (let round = 0; round < 150; round++) {
      await folder().write(entry(round), parts(round));
      const whole = readFileSync(fileOf());
      const at = random.integer(0, whole.length - 1);
      if (random.chance(0.4)) truncateSync(fileOf(), at);
      else writeFileSync(fileOf(), whole.with(at, (whole[at] ?? 0) ^ (1 << random.integer(0, 7))));
      if (random.chance(0.3)) writeFileSync(fileOf(), Buffer.concat([readFileSync(fileOf()), bytes(3, round)]));
      const now = folder();
      const { entries } = await now.index();
      for (const found of entries.values()) expect(found).toEqual(entry(round));
      expect(await now.read(entry(round))).toBeUndefined();
      expect(files()).toEqual([]);
    }
  });

  test("of another program is neither read nor removed", async () => {
    writeFileSync(join(path, "notes.txt"), "mine");
    writeFileSync(join(path, "model.kv"), "mine too");
    const size = fileBytes(entry(1), parts(1));
    for (let at = 0; at < 4; at++) await folder(size + 10).write(entry(at), parts(at));
    expect(files().filter((name) => !/^[0-9a-f]/.test(name))).toEqual(["model.kv", "notes.txt"]);
    expect((await folder().index()).damaged).toBe(0);
  });
});

describe("the limit", () => {
  const size = Math.max(fileBytes(entry(1), parts(1)), fileBytes(entry(2), parts(2)));

  test("removes the least recently used conversation, and refuses one that exceeds the limit by itself", async () => {
    const small = folder(2 * size + 10);
    for (const at of [1, 2]) {
      await small.write(entry(at), parts(at));
      utimesSync(join(path, small.nameOf(entry(at))), at, at);
    }
    expect(await small.read(entry(1))).toEqual(parts(1));
    expect(await small.write(entry(3), parts(3))).toMatchObject({ removed: [small.nameOf(entry(2))] });
    expect(await small.read(entry(1))).toBeDefined();
    expect(await folder(100).write(entry(4), parts(4))).toBe("too large");
    expect(files().length).toBe(2);
  });

  test("keeps the most recently used conversations of those written on a stop", async () => {
    const small = folder(2 * size + 10);
    await small.write(entry(9), parts(9), Date.now() - 60_000);
    const { disk: own, stored } = disk(small);
    for (const at of [1, 2, 3]) own.write(entry(at), parts(at), at * 1000);
    await own.settled();
    expect([...(await small.index()).entries.values()]).toEqual([entry(1), entry(2)]);
    expect([...stored.values()]).toEqual([entry(1), entry(2)]);
    expect(own.counts).toMatchObject({ held: 600, written: 600, failed: 0 });
  });

  test("keeps a conversation that another server used later than the one that writes it again", async () => {
    const hour = 3_600_000;
    const [one, other] = [folder(2 * size + 10), folder(2 * size + 10)];
    await one.write(entry(2), parts(2), Date.now() - hour);
    await one.write(entry(1), parts(1));
    await other.write(entry(1), parts(1), Date.now() - 2 * hour);
    expect(await one.write(entry(3), parts(3))).toMatchObject({ removed: [one.nameOf(entry(2))] });
  });

  test("removes an abandoned file for a conversation that was used before that was begun", async () => {
    const part = `${folder().nameOf(entry(1))}.${crypto.randomUUID()}.part`;
    writeFileSync(join(path, part), bytes(size, 1));
    const begun = Date.now() / 1000 - 3600;
    utimesSync(join(path, part), begun, begun);
    expect(await folder(size + 10).write(entry(2), parts(2), 1000)).toMatchObject({ removed: [part] });
  });

  test("counts unfinished files, and removes abandoned ones", async () => {
    const part = `${folder().nameOf(entry(1))}.${crypto.randomUUID()}.part`;
    writeFileSync(join(path, part), bytes(size, 1));
    await folder(2 * size + 10).write(entry(2), parts(2));
    await folder(2 * size + 10).write(entry(4), parts(4));
    expect(files()).toEqual([part, folder().nameOf(entry(4))].sort());
    utimesSync(join(path, part), 1, 1);
    expect((await folder().index()).damaged).toBe(0);
    expect(files()).toEqual([folder().nameOf(entry(4))]);
  });
});

test("when a process is killed while writing, its complete files are valid and the rest is ignored", async () => {
  const random = new Random(9);
  let unfinished = 0;
  for (let life = 0; life < 8; life++) {
    const writer = [process.execPath, join(import.meta.dir, "fixtures/kv-writer.ts"), path, String(life * 100)];
    const child = Bun.spawn(writer, { stdin: "ignore", stdout: "ignore" });
    void child.exited.then(killAtExit(child));
    const before = files().length;
    while (files().length === before) await Bun.sleep(1);
    await Bun.sleep(random.integer(0, 60));
    child.kill("SIGKILL");
    await child.exited;
    unfinished += files().filter((name) => name.endsWith(".part")).length;
    const { entries, damaged } = await folder(2 ** 30).index();
    expect(damaged).toBe(0);
    for (const found of entries.values()) {
      const { entry: expected, parts: written } = large(Math.floor((found.ids[0] ?? 0) / 1000));
      expect(found).toEqual(expected);
      const read = await folder(2 ** 30).read(found);
      expect(read?.map((part, at) => Buffer.compare(part, written[at] ?? part))).toEqual([0, 0]);
    }
    for (const name of files()) if (name.endsWith(".kv")) rmSync(join(path, name));
  }
  // Otherwise this test would not show that unfinished files are ignored.
  expect(unfinished).toBeGreaterThan(0);
}, 60_000);

function disk(of = folder(), mostInFlight?: number) {
  const stored = new Map<number, Prefix>();
  const results: (Uint8Array[] | undefined)[] = [];
  const warnings: string[] = [];
  const cache = {
    add: ({ id, ...entry }: CachedPrefix) => void stored.set(id, entry),
    remove: (id: number) => void stored.delete(id),
  };
  const listener = { changed: () => {}, warn: (text: string) => void warnings.push(text) };
  const own = new KvDisk(of, cache, listener, mostInFlight);
  return { disk: own, read: (id: number) => own.read(id, (read) => results.push(read)), stored, results, warnings };
}

describe("the disk cache", () => {
  test("counts the tokens that it holds, has written, restored and failed to write", async () => {
    const one = disk();
    one.disk.write(entry(1), parts(1));
    one.disk.write(entry(2), parts(2));
    await one.disk.settled();
    const [first, second] = [...one.stored.keys()];
    await one.read(first ?? 0);
    rmSync(join(path, folder().nameOf(entry(2))));
    await one.read(second ?? 0);
    expect(one.results).toEqual([parts(1), undefined]);
    expect(one.disk.counts).toEqual({ held: 300, written: 600, restored: 300, failed: 300 });
  });

  test("drops a conversation instead of letting it wait in memory", async () => {
    const one = disk(folder(), 2000);
    const given = [1, 2, 3].map(parts);
    for (const [at, some] of given.entries()) one.disk.write(entry(at + 1), some);
    await one.disk.settled();
    expect(one.disk.counts).toMatchObject({ written: 300, failed: 600 });
    // Their memory is freed in any case.
    expect(given.flat().map(({ length }) => length)).toEqual(Array(9).fill(0));
    one.disk.write(entry(3), parts(3));
    await one.disk.settled();
    expect(one.disk.counts.written).toBe(600);
    expect(one.warnings.length).toBe(1);
  });

  test("reports a full disk and goes on", async () => {
    const one = disk(folder(100));
    one.disk.write(entry(1), parts(1));
    await one.disk.settled();
    rmSync(path, { recursive: true });
    one.disk.write(entry(2), []);
    await one.disk.settled();
    expect(one.disk.counts).toEqual({ held: 0, written: 0, restored: 0, failed: 600 });
    expect(await disk().disk.open()).toEqual({ conversations: 0, tokens: 0, damaged: 0 });
  });

  test("can be shared by two servers without harm to either", async () => {
    const limit = 4 * fileBytes(entry(1), parts(1));
    const both = [disk(folder(limit)), disk(folder(limit))];
    const random = new Random(3);
    for (let round = 0; round < 60; round++) {
      const one = random.chance(0.5) ? both[0] : both[1];
      const at = random.integer(0, 12);
      one?.disk.write(entry(at), parts(at));
      if (random.chance(0.5)) await one?.disk.settled();
      const [id] = random.chance(0.5) ? [...(one?.stored.keys() ?? [])].slice(-1) : [];
      const known = id === undefined ? undefined : one?.stored.get(id);
      if (!one || id === undefined || !known) continue;
      await one.read(id);
      const read = one.results.at(-1);
      if (read) expect(read).toEqual(parts(known.ids[0] ?? -1));
      else one.stored.delete(id);
    }
    await Promise.all(both.map((one) => one.disk.settled()));
    expect(both.every((one) => one.results.some((read) => read !== undefined))).toBe(true);
    expect(files().every((name) => name.endsWith(".kv"))).toBe(true);
    expect((await folder().index()).damaged).toBe(0);
  });
});

test("the fingerprint differs wherever the stored bytes would differ", () => {
  const identity = { hash: "a", ropeByContext: false };
  const options = {
    kvType: "f16",
    flashAttention: "auto",
    gpuLayers: -1,
    kvOrigin: { model: identity, adapterHashes: [] },
  } as const;
  const model = { layout: "unified", sequences: 4, contextPerSequence: 1024 } as const;
  const hex = (changes: object = {}, loaded: object = {}, version = "1") =>
    Buffer.from(kvFingerprint({ ...options, ...changes }, { ...model, ...loaded }, version)).toString("hex");
  const origin = (changes: object) => ({ kvOrigin: { ...options.kvOrigin, ...changes } });
  const same = [
    hex(),
    hex({ kvDir: { path: "/b", limitBytes: 2 }, slotDir: "/c" }),
    hex({}, { contextPerSequence: 2048, sequences: 8 }),
  ];
  expect(new Set(same).size).toBe(1);
  const different = [
    hex(),
    hex({}, {}, "2"),
    hex({ kvType: "q8_0" }),
    hex({ flashAttention: "off" }),
    hex({ gpuLayers: 0 }),
    hex({}, { layout: "streams" }),
    hex({}, { layout: "paged" }),
    hex({}, { layout: "streams", sequences: 8 }),
    hex(origin({ model: { ...identity, hash: "b" } })),
    hex(origin({ projector: identity })),
    hex(origin({ model: { ...identity, ropeByContext: true } })),
    hex(origin({ model: { ...identity, ropeByContext: true } }), { contextPerSequence: 2048 }),
  ];
  expect(new Set(different).size).toBe(different.length);
});
