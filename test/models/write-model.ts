// Writes the model files of tests, each once.

import { existsSync, mkdirSync, renameSync } from "node:fs";
import { dirname } from "node:path";
import { writeGguf, type GgufValue, type TensorPlan } from "../../vendor/gguf-writer.ts";

export type ModelContent = readonly [metadata: Readonly<Record<string, GgufValue>>, tensors: readonly TensorPlan[]];

/** Writes a model to `path`, unless that exists, and returns the path. `content` is made only then. */
export function writeModel(path: string, content: () => ModelContent): string {
  if (existsSync(path)) return path;
  mkdirSync(dirname(path), { recursive: true });
  // Written under another name first, because test files run in parallel.
  const temporary = `${path}.${process.pid}`;
  writeGguf(temporary, ...content());
  renameSync(temporary, path);
  return path;
}
