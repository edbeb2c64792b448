// Makes what one platform adds to a release: archives of executables, packages for Linux, components, bill of
// materials.

import { copyFileSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { gzipSync } from "node:zlib";
import { manPage, exampleConfig } from "../docs/generate/options.ts";
import packageJson from "../package.json" with { type: "json" };
import { completion } from "../src/cli/completion.ts";
import { usualFlavour } from "../vendor/llama.ts";
import { BuildError, place, run, step } from "../vendor/run.ts";
import { forArm, forWindows } from "../vendor/target.ts";
import { executableOf, platformOf } from "./binary.ts";
import { BINARIES, type BinaryName } from "./components.ts";
import { repackDeb, repackRpm } from "./repack.ts";
import { billOfMaterials } from "./sbom.ts";
import { fill } from "./template.ts";

const root = join(import.meta.dir, "..");
const { version, description } = packageJson;
/** Folder of a release's files, for all platforms. */
export const RELEASE = join(root, "dist/release");

/** Windows unpacks zip everywhere, and xz only in newer versions. */
const endingFor = (platform: string): string => (platform.startsWith("windows-") ? ".zip" : ".tar.xz");

export const archiveOf = (name: BinaryName, platform: string): string =>
  `${name}-${version}-${platform}${endingFor(platform)}`;

/** Fills `dist/release` from `dist/svc`, `dist/svc-slim` and `dist/components`. Throws BuildError. */
export async function packagePlatform(platform: string): Promise<void> {
  rmSync(RELEASE, { recursive: true, force: true });
  mkdirSync(RELEASE, { recursive: true });
  for (const name of BINARIES) {
    const folder = join(root, "dist", basename(archiveOf(name, platform), endingFor(platform)));
    writeFolder(name, folder);
    const packed = join(RELEASE, archiveOf(name, platform));
    await step(`packed ${archiveOf(name, platform)}`, () => archive(folder, packed));
    const isUsual = platform === platformOf(usualFlavour);
    if (isUsual) expectSmall(packed, MOST_MB[name]);
    // The packages of other flavours would have the same name.
    if (isUsual && platform.startsWith("linux-")) await packagesOf(name, folder, platform);
    rmSync(folder, { recursive: true });
  }
  const components = join(root, "dist/components");
  for (const name of readdirSync(components)) place(join(components, name), join(RELEASE, name));
  const bill = JSON.stringify(billOfMaterials(platform), undefined, 2);
  writeFileSync(join(RELEASE, `svc-${version}-${platform}.cdx.json`), `${bill}\n`);
}

/** Maximum size of a download in megabytes; libraries for GPUs come on top. */
const MOST_MB: Readonly<Record<BinaryName, number>> = { svc: 195, "svc-slim": 75 };

/** Throws BuildError when an archive or a package is larger than `mostMb` megabytes. */
export function expectSmall(path: string, mostMb: number): void {
  const mb = statSync(path).size / 1e6;
  if (mb > mostMb) throw new BuildError(`${basename(path)} has ${mb.toFixed(1)} MB, and ${mostMb} are the most.`);
}

/** Writes the contents of an archive. */
function writeFolder(name: BinaryName, folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  place(join(root, "dist", executableOf(name)), join(folder, executableOf("svc")));
  for (const file of ["LICENSE", "NOTICE", "README.md"]) copyFileSync(join(root, file), join(folder, file));
  writeFileSync(join(folder, "config.example.toml"), exampleConfig());
  if (forWindows) return;
  mkdirSync(join(folder, "completions"));
  const texts = {
    "svc.1.gz": gzipSync(manPage(), { level: 9 }),
    "svc.service": fill("svc.service", {}),
    "completions/svc.bash": completion("bash"),
    "completions/_svc": completion("zsh"),
    "completions/svc.fish": completion("fish"),
  };
  for (const [path, content] of Object.entries(texts)) writeFileSync(join(folder, path), content);
}

/** How xz compresses; with its filter it compresses x64 code better, and leaves everything else alone. */
const XZ = ["xz", "-T0", ...(forArm ? [] : ["--x86"]), "--lzma2=preset=6"];

/** Packs with xz, except for Windows: with gzip, the Bun inside would be half as large again. */
async function archive(folder: string, target: string): Promise<void> {
  const [parent, name] = [join(folder, ".."), folder.slice(folder.lastIndexOf("/") + 1)];
  const part = `${target}.part`;
  if (forWindows) {
    await run(["cmake", "-E", "tar", "cf", part, "--format=zip", name], parent);
    return renameSync(part, target);
  }
  const owner = process.platform === "linux" ? ["--owner=0", "--group=0", "--sort=name"] : ["--uid", "0", "--gid", "0"];
  await run(["tar", ...owner, `--use-compress-program=${XZ.join(" ")}`, "-cf", part, "-C", parent, name]);
  renameSync(part, target);
}

const REPACK = { deb: repackDeb, rpm: repackRpm };

/** Makes the deb and the rpm, where nfpm is installed. */
async function packagesOf(name: BinaryName, folder: string, platform: string): Promise<void> {
  if (!Bun.which("nfpm")) {
    console.log(`left out the deb and the rpm of ${name}: nfpm is not installed`);
    return;
  }
  const config = join(folder, "nfpm.yaml");
  writeFileSync(config, nfpmConfig(name, folder));
  for (const packager of ["deb", "rpm"] as const) {
    const target = join(RELEASE, `${name}-${version}-${platform}.${packager}`);
    await step(`packed the ${packager} of ${name}`, async () => {
      await run(["nfpm", "package", "--config", config, "--packager", packager, "--target", target]);
      await REPACK[packager](target, XZ);
    });
    expectSmall(target, MOST_MB[name]);
  }
}

/** Returns nfpm's description of the packages of the executable in `folder`. */
export const nfpmConfig = (name: BinaryName, folder: string): string =>
  fill("nfpm.yaml", {
    name,
    otherName: BINARIES.find((other) => other !== name),
    version,
    description,
    folder,
    templates: join(import.meta.dir, "templates"),
    nfpmArch: forArm ? "arm64" : "amd64",
    maintainer: "svc contributors",
  });
