// Puts models into a folder of downloaded models, as svc pull does.

import { copyFileSync, mkdirSync, renameSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { ModelStore, type Manifest } from "../../src/store/models/model-store.ts";

/** Stores a copy of the file as the model `owner/repository:QUANT`. `pulled`: when it was downloaded. */
export async function storeModel(
  folder: string,
  name: string,
  file: string,
  pulled = "2026-01-01T00:00:00.000Z",
): Promise<Manifest> {
  const store = new ModelStore(folder);
  const path = `hub/${name.replace(":", "/")}.gguf`;
  mkdirSync(dirname(store.path(path)), { recursive: true });
  // A process may have the earlier file in memory.
  copyFileSync(file, store.path(`${path}.part`));
  renameSync(store.path(`${path}.part`), store.path(path));
  const manifest = {
    name,
    url: `https://huggingface.co/${name.replace(/:.*/, "")}`,
    quant: name.replace(/.*:/, ""),
    files: [{ path, bytes: statSync(file).size, sha256: "0" }],
    pulled,
  };
  await store.save(manifest);
  return manifest;
}
