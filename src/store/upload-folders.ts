// Creates the folders for uploads, which are deleted when their requests end.

import type { ByteBudget } from "../domain/byte-budget.ts";
import { removeAbandoned, TemporaryFiles } from "./temporary-files.ts";

const MB = 1024 * 1024;

const NAMES = ["documents", "pictures", "recordings"] as const;
const prefixOf = (name: (typeof NAMES)[number]) => `svc-${name}-`;

/**
 * Returns the upload folders below `parent`, and deletes those of killed servers. `maxAudioBytes`: maximum bytes of a
 * recording. `budget`: limit for all uploads together.
 */
export function uploadFolders(parent: string, maxAudioBytes: number, budget: ByteBudget) {
  removeAbandoned(parent, NAMES.map(prefixOf));
  const folder = (name: (typeof NAMES)[number], largest: number, does: string, option = "") =>
    new TemporaryFiles({ parent, prefix: prefixOf(name), largest, does, option, budget });
  return {
    documents: folder("documents", 25 * MB, "reads images and documents"),
    pictures: folder("pictures", 20 * MB, "changes images"),
    recordings: folder("recordings", maxAudioBytes, "takes recordings", "--max-audio-mb"),
  };
}
