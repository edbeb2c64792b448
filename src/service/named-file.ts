// Opens the file of a request that was not sent as multipart.

import { fieldError } from "../domain/errors.ts";
import type { FileSource } from "../domain/file-source.ts";
import { inlineBytes } from "../media/load-media.ts";
import { localPath, NoSuchFile } from "../media/local-file.ts";
import { atField } from "../media/refusal.ts";
import type { TemporaryFile, TemporaryFiles } from "../store/temporary-files.ts";

interface Stores {
  /** Storage for files that are sent; its limit of size also applies to files on the server. */
  readonly files: TemporaryFiles;
  /** The only folder whose files requests may name by path. */
  readonly mediaRoot?: string | undefined;
}

/**
 * Returns the file that a request refers to. Throws SvcError `invalid_value`, `not_found` for a path that names no file
 * in the media folder, `payload_too_large` or `storage_full`, or the signal's reason.
 */
export async function namedFile(source: FileSource, stores: Stores, signal: AbortSignal): Promise<TemporaryFile> {
  const { field } = source;
  if (source.kind === "path") return atField(field, () => local(source.path, field, stores));
  const bytes = await atField(field, () => inlineBytes(source.data, Number.POSITIVE_INFINITY, signal));
  return stores.files.receive([bytes], field);
}

/** Returns a file of the operator, which `discard` does not delete. */
async function local(path: string, field: string, { files, mediaRoot }: Stores): Promise<TemporaryFile> {
  try {
    const found = await localPath(path, mediaRoot, Number.POSITIVE_INFINITY);
    if (Bun.file(found).size > files.largest) throw files.tooLarge(field);
    return { path: found, field, discard: async () => {} };
  } catch (error) {
    throw error instanceof NoSuchFile ? fieldError("not_found", field, error.message) : error;
  }
}
