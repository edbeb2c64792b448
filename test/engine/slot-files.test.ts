// Slots as files: whatever is in the folder, a restore returns what was saved, or nothing. A waiting action blocks
// others no longer than until it is cancelled.

import { beforeEach, describe, expect, test } from "bun:test";
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { Llama } from "../../ffi/llama/api.ts";
import { KvCommands } from "../../src/engine/text/child/kv-commands.ts";
import { SlotFiles } from "../../src/engine/text/child/slot-files.ts";
import { SlotFolder } from "../../src/engine/text/child/slot-folder.ts";
import { FakeEngine, LIMITS } from "../scheduler/fake-engine.ts";
import { temporaryFolder } from "../support/folders.ts";
import { rejection } from "../support/thrown.ts";
import { FINGERPRINT } from "./fixtures/kv-entries.ts";

let path: string;
beforeEach(() => void (path = temporaryFolder()));

const entry = { ids: Int32Array.from({ length: 30 }, (_, at) => at), adapterKey: "a:1", media: [] };
const parts = [new Uint8Array(1000).fill(7)];
const folder = (fingerprint = FINGERPRINT) => new SlotFolder(path, fingerprint);
const BAD = ["invalid_value", "filename"];

describe("the folder", () => {
  test("returns what was last saved under a name, and has no other file", async () => {
    await folder().write("a", { ...entry, ids: entry.ids.slice(0, 5) }, []);
    await folder().write("a", entry, parts);
    expect(readdirSync(path)).toEqual(["a"]);
    expect(statSync(join(path, "a")).mode & 0o777).toBe(0o600);
    const found = await folder().header("a");
    expect(found).toEqual(entry);
    expect(await folder().read("a", found)).toEqual(parts);
  });

  test("refuses a file that is damaged, truncated, of another model, or not a slot file", async () => {
    await folder().write("a", entry, parts);
    expect(await rejection(folder(new Uint8Array(32).fill(8)).header("a"))).toEqual(BAD);
    const good = readFileSync(join(path, "a"));
    for (const at of [0, 9, 30, 70, 200, good.length - 1000, good.length - 1]) {
      writeFileSync(join(path, "b"), good.with(at, (good.at(at) ?? 0) ^ 1));
      expect(
        await rejection(
          folder()
            .header("b")
            .then((found) => folder().read("b", found)),
        ),
      ).toEqual(BAD);
      writeFileSync(join(path, "b"), good.subarray(0, at));
      expect(await rejection(folder().header("b"))).toEqual(BAD);
    }
    mkdirSync(join(path, "folder"));
    symlinkSync(join(path, "a"), join(path, "link"));
    for (const name of ["folder", "link", "missing", "x".repeat(300)]) {
      expect(await rejection(folder().header(name))).toEqual(BAD);
    }
  });

  test("leaves the disk's reserve free, and an earlier file as it was", async () => {
    await folder().write("a", entry, []);
    const before = readFileSync(join(path, "a"));
    let freeBytes = 2000 + 1000;
    // 2 % of it must stay free.
    const full = new SlotFolder(path, FINGERPRINT, async () => ({ freeBytes, bytes: 100_000 }));
    expect(await rejection(full.write("a", entry, parts))).toEqual(["storage_full", undefined]);
    expect([readdirSync(path), readFileSync(join(path, "a"))]).toEqual([["a"], before]);
    freeBytes += 1000;
    await full.write("a", entry, parts);
    expect(statSync(join(path, "a")).size).toBeWithin(1001, 2000);
  });

  test("keeps the earlier file when a write fails", async () => {
    mkdirSync(join(path, "a"));
    expect(await rejection(folder().write("a", entry, parts))).toEqual(["storage_unavailable", undefined]);
    expect(readdirSync(path)).toEqual(["a"]);
  });

  test("removes unfinished files of a dead process after a while", async () => {
    const [old, young] = ["0", "1"].map((digit) => `.${crypto.randomUUID().slice(0, -1)}${digit}.part`) as [
      string,
      string,
    ];
    for (const name of [old, young, "a", ".hidden"]) writeFileSync(join(path, name), "");
    for (const name of [old, "a", ".hidden"]) utimesSync(join(path, name), 1, 1);
    await folder().removeAbandoned();
    expect(readdirSync(path).sort()).toEqual([young, "a", ".hidden"].sort());
  });

  test("may be gone when the model is loaded: only saving fails then", async () => {
    rmSync(path, { recursive: true });
    await folder().removeAbandoned();
    expect(await rejection(folder().write("a", entry, parts))).toEqual(["storage_unavailable", undefined]);
  });
});

describe("actions", () => {
  /** Returns slot files over a scheduler whose commands go to a stand-in library. */
  function files(accepts = true) {
    const engine = new FakeEngine({ ...LIMITS, sequences: 1, parallel: 1 });
    const { scheduler } = engine;
    const llama = { kvSave: () => new Uint8Array(10), kvRestore: () => accepts, kvRemove: () => true };
    const clock = { now: () => engine.now };
    const commands = new KvCommands({ ...llama, kvRelease: () => {} } as unknown as Llama, scheduler.kv.host, clock);
    const events: string[] = [];
    const news = new Map<number, PromiseWithResolvers<void>>();
    const told = (key: number, what: string) => {
      events.push(`${key} ${what}`);
      news.get(key)?.resolve();
    };
    const slots = new SlotFiles(folder(), scheduler, commands, 100, clock as never, {
      prepare: () => {
        const lost = commands.run(scheduler.kv.takeCommands());
        for (const sequence of lost) scheduler.cleared(sequence);
        return lost.size === 0;
      },
      started: (key) => void events.push(`${key} started`),
      answered: (key, { tokens }) => told(key, `${tokens} tokens`),
      refused: (key, { code }) => told(key, code),
    });
    const begin = (key: number, type: "save" | "restore", filename = "a") => {
      news.set(key, Promise.withResolvers());
      slots.submit(key, { type, slot: 0, filename });
      return news.get(key)?.promise;
    };
    return { engine, slots, events, begin };
  }

  test("wait for free cells, and continue when a request ends", async () => {
    await folder().write("a", entry, parts);
    const { engine, slots, events, begin } = files();
    engine.add(1, 20, 5);
    engine.step();
    const waiting = begin(7, "restore");
    await Bun.sleep(50);
    expect(events).toEqual([]);
    engine.run();
    slots.ended();
    await waiting;
    expect(events).toEqual(["7 started", "7 30 tokens"]);
  });

  test("that are cancelled let the next ones through", async () => {
    await folder().write("a", entry, parts);
    const { engine, slots, events, begin } = files();
    engine.add(1, 20, 5);
    engine.step();
    const first = begin(7, "restore");
    void begin(8, "save", "b");
    const third = begin(9, "restore", "missing");
    await Bun.sleep(50);
    slots.cancel(8);
    slots.cancel(7);
    await Promise.all([first, third]);
    expect(events).toEqual(["7 request_cancelled", "9 invalid_value"]);
    expect(readdirSync(path)).toEqual(["a"]);
  });

  test("are refused for a file that is too long, or whose state the library does not accept", async () => {
    await folder().write("a", entry, parts);
    await folder().write("long", { ...entry, ids: new Int32Array(101) }, parts);
    const { events, begin, engine } = files(false);
    await begin(1, "restore", "long");
    await begin(2, "restore");
    await begin(3, "save", "b");
    expect(events).toEqual(["1 invalid_value", "2 started", "2 invalid_value", "3 0 tokens"]);
    expect(engine.scheduler.kv.cells).toBe(0);
  });
});
