// Makes what a release has once: checksums of all platforms' files, the installer, and files for package managers.

import { copyFileSync, createReadStream, existsSync, readdirSync, writeFileSync } from "node:fs";
import { createHash } from "node:crypto";
import { basename, join } from "node:path";
import packageJson from "../package.json" with { type: "json" };
import { BuildError } from "../vendor/run.ts";
import { archiveOf, RELEASE } from "./package.ts";
import { fill } from "./template.ts";

const { version, description } = packageJson;
const PLATFORMS = ["linux-x64", "linux-arm64", "darwin-x64", "darwin-arm64"];
const CHECKSUMS = "SHA256SUMS";

/**
 * Completes the folder of a release that will be at the address `releases`. Throws BuildError when a platform's files
 * are missing. The release has svc for Windows, and manifests of its package managers, only if its archive is there,
 * which was then tried on Windows.
 */
export async function completeRelease(releases: string, folder = RELEASE): Promise<void> {
  const archives: Record<string, string> = {};
  for (const platform of PLATFORMS) {
    const file = archiveOf("svc", platform);
    archives[`file:svc:${platform}`] = file;
    archives[`sha256:svc:${platform}`] = await sha256Of(join(folder, file));
  }
  const download = `${releases}/download/v${version}`;
  const homepage = releases.replace(/\/releases$/, "");
  const common = { version, description: description.replace(/\.$/, ""), download, homepage };
  const windows = join(folder, archiveOf("svc", "windows-x64"));
  const written = {
    "install.sh": fill("install.sh", { releases }),
    "svc.rb": fill("svc.rb", { ...archives, ...common }),
    ...(existsSync(windows) && windowsManifests(windows, await sha256Of(windows), common)),
  };
  for (const [name, content] of Object.entries(written)) writeFileSync(join(folder, name), content);
  copyFileSync(join(import.meta.dir, "templates/Dockerfile"), join(folder, "Dockerfile"));
  const names = readdirSync(folder).filter((name) => name !== CHECKSUMS);
  const lines = [];
  for (const name of names.sort()) lines.push(`${await sha256Of(join(folder, name))}  ${name}\n`);
  writeFileSync(join(folder, CHECKSUMS), lines.join(""));
}

type Common = Readonly<Record<"version" | "description" | "download" | "homepage", string>>;

/** Returns the manifests of Scoop and winget for this archive, by file name. */
function windowsManifests(archive: string, sha256: string, common: Common): Readonly<Record<string, string>> {
  const file = basename(archive);
  const [owner = "svc"] = new URL(common.homepage).pathname.split("/").filter(Boolean);
  const identifier = `${owner}.svc`;
  const values = { ...common, file, sha256, folder: basename(file, ".zip"), identifier };
  const winget = (kind: string) => fill(`winget${kind}.yaml`, { ...values, sha256: sha256.toUpperCase() });
  return {
    "svc.json": fill("scoop.json", values),
    [`${identifier}.yaml`]: winget(""),
    [`${identifier}.installer.yaml`]: winget(".installer"),
    [`${identifier}.locale.en-US.yaml`]: winget(".locale.en-US"),
  };
}

async function sha256Of(path: string): Promise<string> {
  const hash = createHash("sha256");
  try {
    for await (const piece of createReadStream(path)) hash.update(piece as Buffer);
  } catch {
    throw new BuildError(`${path} is not there: every platform must have added its files.`);
  }
  return hash.digest("hex");
}
