// The damages that once did harm, one of each, to the real program. `bun test/hostile/corrupt-files.ts` tries hundreds.

import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { kinds, load } from "./corrupt-files.ts";

const folder = mkdtempSync(join(tmpdir(), "svc-corrupt-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Writes a number behind a key's name and the type of its value. */
const set = (key: string, value: number) => (bytes: Buffer) => {
  bytes.writeUInt32LE(value, bytes.indexOf(key) + key.length + 4);
};

const damages: Readonly<Record<string, readonly [keyof typeof kinds, (bytes: Buffer) => Buffer | void]>> = {
  "a model cut off in its header": ["model", (bytes) => bytes.subarray(0, 1000)],
  "a model with 2^63 tensors": ["model", (bytes) => void bytes.writeBigUInt64LE(2n ** 63n, 8)],
  "a model with a layer too many": ["model", set("qwen3.block_count", 63)],
  "a draft model with another token": ["draft", (bytes) => void (bytes[bytes.indexOf("Once") + 1] = 0x4e)],
  "an adapter with half a pair": ["adapter", (bytes) => void (bytes[bytes.indexOf("lora_b") + 5] = 0x63)],
  "vectors pooled in no way there is": ["embeddings", set("bert.pooling_type", 2 ** 32 - 1)],
  "a projector cut off in its weights": ["projector", (bytes) => bytes.subarray(0, -1000)],
};

test.each(Object.keys(damages))(
  "%s is named, and not served",
  async (name) => {
    const [kind, damage] = damages[name] ?? (["model", () => {}] as const);
    const bytes = readFileSync(kinds[kind].file(folder));
    const damaged = join(folder, "damaged.gguf");
    writeFileSync(damaged, damage(bytes) ?? bytes);
    expect(await load(kinds[kind], damaged, folder)).toEqual({ end: "refused" });
  },
  120_000,
);
