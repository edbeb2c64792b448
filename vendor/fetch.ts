// Downloads pinned npm packages as plain archives, without their dependencies and install scripts.

import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { BuildError, makeFolder, run, step } from "./run.ts";

export interface PinnedPackage {
  readonly package: string;
  readonly version: string;
  /** `sha512-…` of the archive, as npm records it. */
  readonly integrity: string;
}

/** Unpacks a package under `directory` and returns its folder; does nothing when that exists. */
export async function fetchPackage(pin: PinnedPackage, directory: string): Promise<string> {
  const target = join(directory, `${pin.package.replaceAll("/", "-")}-${pin.version}`);
  if (existsSync(target)) return target;
  await step(`fetched ${pin.package} ${pin.version}`, () =>
    makeFolder(target, async (temporary) => {
      const spec = `${pin.package}@${pin.version}`;
      const output = await run(["npm", "pack", spec, "--silent", "--pack-destination", temporary]);
      const archive = join(temporary, output.trim().split("\n").at(-1) ?? "");
      await verify(archive, pin);
      await run(["tar", "xzf", archive, "-C", temporary, "--strip-components=1"]);
      rmSync(archive);
    }),
  );
  return target;
}

async function verify(archive: string, pin: PinnedPackage): Promise<void> {
  const digest = new Bun.CryptoHasher("sha512").update(await Bun.file(archive).arrayBuffer()).digest("base64");
  if (`sha512-${digest}` !== pin.integrity) {
    throw new BuildError(`${pin.package} ${pin.version} is not the archive that vendor/versions.json pins.`);
  }
}
