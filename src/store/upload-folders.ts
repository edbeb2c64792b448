// Creates the folders for uploads, which are deleted when their requests end.

import type { ByteBudget } from "../domain/byte-budget.ts";
import { TemporaryFiles } from "./temporary-files.ts";
import { removeAbandoned, type FolderKind } from "./temporary-folder.ts";

const MB = 1024 * 1024;

/**
 * Returns the upload folders below `parent`, and deletes what killed processes left there. `maxAudioBytes`: maximum bytes
 * of a recording. `budget`: limit for all uploads together.
 */
export function uploadFolders(parent: string, maxAudioBytes: number, budget: ByteBudget) {
  removeAbandoned(parent);
  const folder = (kind: FolderKind, largest: number, does: string, option = "") =>
    new TemporaryFiles({ parent, kind, largest, does, option, budget });
  return {
    documents: folder("documents", 25 * MB, "reads images and documents"),
    pictures: folder("pictures", 20 * MB, "changes images"),
    recordings: folder("recordings", maxAudioBytes, "takes recordings", "--max-audio-mb"),
  };
}
