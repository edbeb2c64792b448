// The folders of what requests bring, until they have ended.

import type { BodyBudget } from "../domain/body-budget.ts";
import { TemporaryFiles } from "./temporary-files.ts";

const MB = 1024 * 1024;

/** `parent`: the folder for temporary files. `maxAudioBytes`: of one recording. `budget`: of all that is put there. */
export function uploadFolders(parent: string, maxAudioBytes: number, budget: BodyBudget) {
  const folder = (name: string, largest: number, does: string, option = "") =>
    new TemporaryFiles({ parent, prefix: `svc-${name}-`, largest, does, option, budget });
  return {
    documents: folder("documents", 25 * MB, "reads pictures and documents"),
    pictures: folder("pictures", 20 * MB, "changes images"),
    recordings: folder("recordings", maxAudioBytes, "takes recordings", "--max-audio-mb"),
  };
}
