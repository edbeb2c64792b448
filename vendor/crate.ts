// Downloads pinned crates as plain archives.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { BuildError, expectSha256, makeFolder, run, step } from "./run.ts";

export interface PinnedCrate {
  readonly crate: string;
  readonly version: string;
  readonly url: string;
  /** Checksum of the archive, in hexadecimal digits. */
  readonly sha256: string;
}

/** Thrown when the registry cannot be reached. */
export class MissingCrate extends BuildError {}

/**
 * Unpacks a crate under `directory` and returns its folder; does nothing when that exists. `prepare` changes the folder
 * before it gets its final name. Throws MissingCrate, or BuildError when the archive is not the pinned one.
 */
export async function fetchCrate(
  pin: PinnedCrate,
  directory: string,
  { prepare }: { readonly prepare: (folder: string) => Promise<void> },
): Promise<string> {
  const target = join(directory, `${pin.crate}-${pin.version}`);
  if (existsSync(target)) return target;
  await step(`fetched the crate ${pin.crate} ${pin.version}`, () =>
    makeFolder(target, async (temporary) => {
      const archive = join(temporary, "archive.tar.gz");
      await Bun.write(archive, await download(pin));
      await run(["tar", "xzf", archive, "-C", temporary, "--strip-components=1"]);
      await Bun.file(archive).delete();
      await prepare(temporary);
    }),
  );
  return target;
}

async function download({ crate, version, url, sha256 }: PinnedCrate): Promise<Uint8Array> {
  let bytes: Uint8Array;
  try {
    const response = await fetch(url);
    if (!response.ok) throw new Error(`HTTP status ${response.status}`);
    bytes = await response.bytes();
  } catch (error) {
    throw new MissingCrate(`${crate} ${version} cannot be fetched (${error instanceof Error ? error.message : error})`);
  }
  expectSha256(bytes, sha256, `${crate} ${version} is not the crate that is pinned below vendor.`);
  return bytes;
}
