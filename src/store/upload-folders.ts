// Creates the folders for uploads, which are deleted when their requests end.

import type { BodyBudget } from "../domain/body-budget.ts";
import { TemporaryFiles } from "./temporary-files.ts";

const MB = 1024 * 1024;

/**
 * Returns the upload folders below `parent`. `maxAudioBytes`: maximum bytes of a recording. `budget`: limit for all
 * uploads together.
 */
export function uploadFolders(parent: string, maxAudioBytes: number, budget: BodyBudget) {
  const folder = (name: string, largest: number, does: string, option = "") =>
    new TemporaryFiles({ parent, prefix: `svc-${name}-`, largest, does, option, budget });
  return {
    documents: folder("documents", 25 * MB, "reads images and documents"),
    pictures: folder("pictures", 20 * MB, "changes images"),
    recordings: folder("recordings", maxAudioBytes, "takes recordings", "--max-audio-mb"),
  };
}
