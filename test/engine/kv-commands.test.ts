import { expect, test } from "bun:test";
import type { Llama } from "../../ffi/llama/api.ts";
import { KvCommands } from "../../src/engine/child/kv-commands.ts";

test("a copy of what could not be restored is lost with it", () => {
  const calls: string[] = [];
  const llama = {
    kvSave: () => new Uint8Array(1),
    kvRestore: () => false,
    kvRemove: (sequence: number) => calls.push(`remove ${sequence}`) > 0,
    kvCopy: (from: number, to: number) => void calls.push(`copy ${from} ${to}`),
  } as unknown as Llama;
  const kv = new KvCommands(llama, () => {});
  kv.run([{ type: "save", sequence: 4, saved: 9, from: 0, to: -1 }]);
  const lost = kv.run([
    { type: "copy", from: 0, to: 3, position: 7 },
    { type: "restore", sequence: 0, saved: 9 },
    { type: "copy", from: 0, to: 1, position: 7 },
    { type: "copy", from: 1, to: 2, position: 7 },
  ]);
  expect(lost.map(({ sequence, saved }) => [sequence, saved])).toEqual([
    [0, 9],
    [1, 9],
    [2, 9],
  ]);
  expect(calls).toEqual(["copy 0 3", "remove 0", "remove 1", "remove 2"]);
  expect(kv.run([{ type: "copy", from: 0, to: 1, position: 7 }])).toEqual([]);
});
