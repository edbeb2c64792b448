// Finds the templates in the llama.cpp sources that the build has unpacked.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { NativeLlama } from "../../../ffi/llama/binding.ts";
import versions from "../../../vendor/versions.json" with { type: "json" };
import { load } from "../harness.ts";
import { jsonFamilies } from "./json-families.ts";
import { taggedFamilies } from "./tagged-families.ts";

export const TEMPLATES = join(
  import.meta.dir,
  `../../../vendor/.build/llama.cpp-${versions["llama.cpp"]}/models/templates`,
);

/** Why the templates cannot be tested, or undefined. */
export const missing = existsSync(TEMPLATES)
  ? undefined
  : "no llama.cpp sources with templates; `bun build.ts native` unpacks them";

export const families = [...jsonFamilies, ...taggedFamilies];

/** Loads svc-mini with another template. Throws when that fails. */
export async function loadTemplate(llama: NativeLlama, name: string): Promise<void> {
  const chatTemplate = readFileSync(join(TEMPLATES, `${name}.jinja`), "utf8");
  const small = { context: 256, parallel: 1, batch: 64, microBatch: 64, warmup: false };
  const error = await load(llama, { ...small, chatTemplate });
  if (error !== undefined) throw new Error(`${name}: ${error}`);
}
