// The damages that once did harm, one of each, to the real program. `bun test/hostile/corrupt-files.ts` tries hundreds.

import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { kinds, load, type FileKind } from "./corrupt-files.ts";

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
  "a transcription model cut off in its weights": ["transcription", (bytes) => bytes.subarray(0, -1000)],
  "a transcription model with a layer too many": ["transcription", (bytes) => void bytes.writeUInt32LE(7, 32)],
  "a transcription model of 2^31 words": ["transcription", (bytes) => void bytes.writeUInt32LE(2 ** 31, 4)],
  "a speech detector cut off": ["vad", (bytes) => bytes.subarray(0, -1000)],
  "a speech detector with layers too many": ["vad", (bytes) => void bytes.writeUInt32LE(2 ** 20, 36)],
  "an image model cut off": ["image model", (bytes) => bytes.subarray(0, -1000)],
  // The names of its tensors.
  "an image model of nothing that draws": ["image model", (bytes) => void bytes.fill("x", 200, 20_000)],
  "language data cut off": ["language data", (bytes) => bytes.subarray(0, 1000)],
  "a voice cut off": ["voice", (bytes) => bytes.subarray(0, -1000)],
  // Of a list of sizes: it is read, and cannot be computed.
  "a voice whose sizes do not fit": ["voice", (bytes) => void (bytes[3355] = 0x80)],
  "a voice's tables that are no JSON": ["tables of speech", (bytes) => void bytes.write("}", 0)],
  "a voice without half of what it needs for unknown words": ["unknown words", (bytes) => bytes.subarray(0, 100_000)],
};

/** What the build makes with pip. */
const isThere = (name: string): boolean => {
  const kind: FileKind = kinds[damages[name]?.[0] ?? "model"];
  if (kind.isBuilt?.() !== false) return true;
  console.log(`not tested, as its file is not built (\`bun build.ts media\`): ${name}`);
  return false;
};

test.each(Object.keys(damages).filter(isThere))(
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
