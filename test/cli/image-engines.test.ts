// The files of an image model: named by options, or downloaded by svc pull.

import { beforeEach, expect, test } from "bun:test";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { readImageFiles } from "../../src/cli/image-engines.ts";
import type { Config } from "../../src/config/config.ts";
import { ModelStore, type StoredFile } from "../../src/store/models/model-store.ts";
import { testConfig } from "../http/harness.ts";
import { temporaryFolder } from "../support/folders.ts";

let folder: string;
beforeEach(() => void (folder = temporaryFolder()));

/** Writes an empty file of the format. */
function write(path: string): string {
  const header = Buffer.from("{}");
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(header.length));
  const file = join(folder, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, Buffer.concat([length, header]));
  return file;
}

async function pulled(name: string, parts: Readonly<Record<string, StoredFile["part"]>>): Promise<void> {
  const files = Object.entries(parts).map(([path, part]) => {
    write(path);
    return { path, bytes: 10, sha256: "0", ...(part && { part }) };
  });
  await new ModelStore(folder).save({ name, url: "https://hub/a/b", files, pulled: "2026-01-01T00:00:00Z" });
}

const read = (options: Partial<Config>) =>
  readImageFiles({ ...testConfig, modelsDir: folder, ...options }).map(({ id, model, vae, taesd, textEncoders }) => ({
    id,
    model: model.path,
    vae: vae?.path,
    taesd: taesd?.path,
    textEncoders: textEncoders.map(({ path }) => path),
  }));

test("a downloaded set is served under its name with all its parts, next to a model whose parts options name", async () => {
  await pulled("klein", { "a/weights.gguf": undefined, "b/vae.safetensors": "vae", "c/llm.gguf": "text-encoder" });
  const [own, decoder, reader] = [write("own.safetensors"), write("decoder.safetensors"), write("clip.safetensors")];
  const options = { imageModels: ["klein", own], imageVae: decoder, imageTextEncoders: [reader] };
  expect(read(options)).toEqual([
    {
      id: "klein",
      model: join(folder, "a/weights.gguf"),
      vae: join(folder, "b/vae.safetensors"),
      taesd: undefined,
      textEncoders: [join(folder, "c/llm.gguf")],
    },
    { id: "own", model: own, vae: decoder, taesd: undefined, textEncoders: [reader] },
  ]);
});

test("an incomplete set gets an error that says how to complete it", async () => {
  await pulled("klein", { "weights.safetensors": undefined, "vae.safetensors": "vae" });
  rmSync(join(folder, "vae.safetensors"));
  expect(() => read({ imageModels: ["klein"] })).toThrow("klein is not complete: svc pull");
});
