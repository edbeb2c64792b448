import { expect, test } from "bun:test";
import { allocate } from "../../ffi/llama/allocate.ts";
import type { Llama } from "../../ffi/llama/api.ts";
import type { KvDisk } from "../../src/engine/text/child/kv-disk.ts";
import { KvCommands } from "../../src/engine/text/child/kv-commands.ts";
import type { KvCommand } from "../../src/scheduler/kv/kv-command.ts";

const host = { wrote: () => {}, readEnded: () => {}, restoreFailed: () => {} };
const clock = { now: () => 0 };

test("copies of a sequence that could not be restored, or that sequence under its new id, are reported as lost with it", () => {
  const calls: string[] = [];
  const llama = {
    kvSave: () => new Uint8Array(1),
    kvRestore: () => false,
    kvRemove: (sequence: number) => calls.push(`remove ${sequence}`) > 0,
    kvCopy: (from: number, to: number) => void calls.push(`copy ${from} ${to}`),
    kvMove: (from: number, to: number) => void calls.push(`move ${from} ${to}`),
  } as unknown as Llama;
  const kv = new KvCommands(llama, host, clock);
  kv.run([{ type: "offload", sequence: 4, hostId: 9, from: 0, to: -1 }]);
  const lost = kv.run([
    { type: "copy", from: 0, to: 3, position: 7, cells: 7 },
    { type: "restore", sequence: 0, hostId: 9 },
    { type: "copy", from: 0, to: 1, position: 7, cells: 7 },
    { type: "copy", from: 1, to: 2, position: 7, cells: 7 },
  ]);
  expect([...lost]).toEqual([0, 1, 2]);
  expect(calls).toEqual(["copy 0 3", "remove 0", "remove 1", "remove 2"]);
  const moved = kv.run([
    { type: "restore", sequence: 0, hostId: 9 },
    { type: "move", from: 0, to: 1 },
    { type: "move", from: 3, to: 0 },
  ]);
  expect([...moved]).toEqual([1]);
  expect(calls.slice(-3)).toEqual(["remove 0", "remove 1", "move 3 0"]);
  expect(kv.run([{ type: "copy", from: 0, to: 1, position: 7, cells: 7 }])).toEqual(new Set());
});

test("a sequence that could not be restored is not lost once a later command has replaced or cleared it", () => {
  const calls: string[] = [];
  const llama = {
    kvSave: (sequence: number) => Uint8Array.of(sequence),
    kvRestore: (_: number, [part]: readonly Uint8Array[]) => part?.[0] !== 4,
    kvRemove: () => true,
    kvCopy: (from: number, to: number) => void calls.push(`copy ${from} ${to}`),
  } as unknown as Llama;
  const restoreFailed = (hostId: number) => void calls.push(`failed ${hostId}`);
  const kv = new KvCommands(llama, { ...host, restoreFailed }, clock);
  const broken = (sequence: number): KvCommand => ({ type: "restore", sequence, hostId: 8 });
  const lost = kv.run([
    { type: "offload", sequence: 4, hostId: 8, from: 0, to: -1 },
    { type: "offload", sequence: 5, hostId: 9, from: 0, to: -1 },
    ...[0, 1, 2, 3].map(broken),
    { type: "trim", sequence: 0, position: 0 },
    { type: "copy", from: 5, to: 1, position: 7, cells: 7 },
    { type: "restore", sequence: 2, hostId: 9 },
    { type: "trim", sequence: 3, position: 5 },
    { type: "copy", from: 1, to: 6, position: 7, cells: 7 },
  ]);
  expect([...lost]).toEqual([3]);
  expect(calls).toEqual(["failed 8", "failed 8", "failed 8", "failed 8", "copy 5 1", "copy 1 6"]);
});

test("a sequence that could not be restored is not offloaded as if it held its tokens", () => {
  const saved: number[] = [];
  const llama = {
    kvSave: (sequence: number) => (saved.push(sequence), new Uint8Array(1)),
    kvRestore: () => false,
    kvRemove: () => true,
  } as unknown as Llama;
  const kv = new KvCommands(llama, host, clock);
  kv.run([
    { type: "restore", sequence: 4, hostId: 8 },
    { type: "offload", sequence: 4, hostId: 9, from: 0, to: -1 },
    { type: "offload", sequence: 5, hostId: 10, from: 0, to: -1 },
  ]);
  expect([kv.take(9), kv.take(10)?.length]).toEqual([undefined, 1]);
  expect(saved).toEqual([5]);
});

test("a state too large for an array is not offloaded: it is lost, and nothing else is", () => {
  const size = 2 ** 33 + 1;
  const events: unknown[][] = [];
  const llama = {
    kvSave: (sequence: number) => (sequence === 4 ? allocate(size) : new Uint8Array(3)),
    kvRestore: () => true,
    kvRemove: () => true,
  } as unknown as Llama;
  const disk = {
    write: (_: unknown, parts: readonly unknown[], idleMs: number) =>
      void events.push(["written", parts.length, idleMs]),
    fail: (_: unknown, reason: string) => void events.push(["failed", reason]),
  } as unknown as KvDisk;
  const wrote = (hostId: number, bytes: number) => void events.push(["wrote", hostId, bytes]);
  const kv = new KvCommands(llama, { ...host, wrote }, clock, disk);
  const entry = { ids: Int32Array.of(1), adapterKey: "", media: [] };
  const lost = kv.run([
    { type: "offload", sequence: 4, hostId: 8, from: 0, to: -1 },
    { type: "offload", sequence: 5, hostId: 9, from: 0, to: -1 },
    { type: "restore", sequence: 4, hostId: 8 },
    { type: "restore", sequence: 5, hostId: 9 },
    { type: "write", hostId: 8, at: 0, ...entry },
    { type: "write", hostId: 9, at: clock.now() - 70, ...entry },
  ]);
  expect([...lost]).toEqual([4]);
  expect(events).toEqual([
    ["wrote", 8, 0],
    ["wrote", 9, 3],
    ["failed", "a conversation could not be offloaded from the KV cache"],
    ["written", 1, 70],
  ]);
});

test("memory is allocated up to the largest possible array", () => {
  expect(allocate(3)).toEqual(new Uint8Array(3));
  expect(allocate(2 ** 33 + 1)).toBeUndefined();
});

test("the memory of a dropped entry is freed at once, not at the next garbage collection", () => {
  const parts: Uint8Array[] = [];
  const llama = {
    kvSave: () => {
      const part = new Uint8Array(1000);
      parts.push(part);
      return part.subarray(0, 900);
    },
  } as unknown as Llama;
  const kv = new KvCommands(llama, host, clock);
  kv.run([
    { type: "offload", sequence: 4, hostId: 8, from: 0, to: 10 },
    { type: "offload", sequence: 4, hostId: 8, from: 10, to: -1 },
    { type: "offload", sequence: 5, hostId: 9, from: 0, to: -1 },
  ]);
  expect(parts.map(({ length }) => length)).toEqual([1000, 1000, 1000]);
  kv.run([{ type: "drop", hostId: 8 }]);
  expect(parts.map(({ length }) => length)).toEqual([0, 0, 1000]);
});
