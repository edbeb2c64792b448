// Lists what an executable is made of, as a CycloneDX bill of materials: everything that the repository pins.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import packageJson from "../package.json" with { type: "json" };
import allMinilm from "../vendor/all-minilm.json" with { type: "json" };
import hibari from "../vendor/hibari.json" with { type: "json" };
import silero from "../vendor/silero-vad.json" with { type: "json" };
import stableDiffusion from "../vendor/stable-diffusion.json" with { type: "json" };
import tesseract from "../vendor/tesseract.json" with { type: "json" };
import tessdata from "../vendor/tessdata-eng.json" with { type: "json" };
import versions from "../vendor/versions.json" with { type: "json" };
import whisperBase from "../vendor/whisper-base.json" with { type: "json" };

const root = join(import.meta.dir, "..");

interface Entry {
  readonly type: "library" | "machine-learning-model" | "framework";
  readonly name: string;
  readonly version: string;
  readonly purl: string;
  readonly hashes?: readonly { readonly alg: "SHA-256" | "SHA-512"; readonly content: string }[];
  readonly licenses?: readonly { readonly license: { readonly name: string } }[];
}

interface NpmPin {
  readonly package: string;
  readonly version: string;
  readonly integrity?: string;
  readonly license?: string;
}

/** Returns the bill of materials. `platform`: as it appears in the file names of a release. */
export function billOfMaterials(platform: string): object {
  const { name, version, description } = packageJson;
  const prebuilt = Object.entries(versions.prebuilt).filter(([key]) => key === platform);
  const models = [allMinilm, hibari, silero, ...whisperBase.wheels];
  const components = [
    ...npmPackages(),
    ...[versions.sources, versions.whisper, ...prebuilt.map(([, pin]) => pin)].map((pin) => npm(pin)),
    npm(tessdata, "machine-learning-model"),
    ...models.map(wheel),
    ...nativeTesseract(platform),
    crate({ name: stableDiffusion.crate, version: stableDiffusion.version, checksum: stableDiffusion.sha256 }),
    ...lockedCrates(),
  ];
  const unique = [...new Map(components.map((entry) => [entry.purl, entry])).values()];
  return {
    $schema: "http://cyclonedx.org/schema/bom-1.6.schema.json",
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: {
      component: {
        type: "application",
        "bom-ref": "svc",
        name,
        version,
        description,
        licenses: [{ license: { id: packageJson.license } }],
        properties: [{ name: "svc:platform", value: platform }],
      },
    },
    components: unique.map((entry) => ({ ...entry, "bom-ref": entry.purl })),
  };
}

/** Returns the packages that are compiled in, a few that these list needlessly, and the runtime. */
function npmPackages(): Entry[] {
  const lock = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")) as {
    readonly packages: Readonly<
      Record<
        string,
        Omit<NpmPin, "package"> & { readonly dev?: true; readonly devOptional?: true; readonly optional?: true }
      >
    >;
  };
  return Object.entries(lock.packages).flatMap(([path, pin]) => {
    const name = path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length);
    const isBuilt = !pin.dev && !pin.devOptional && !pin.optional && !name.startsWith("@types/");
    if (path === "" || !(isBuilt || name === "bun")) return [];
    return [npm({ ...pin, package: name }, name === "bun" ? "framework" : "library")];
  });
}

function npm({ package: name, version, integrity, license }: NpmPin, type: Entry["type"] = "library"): Entry {
  const hash = integrity?.startsWith("sha512-") && Buffer.from(integrity.slice(7), "base64").toString("hex");
  return {
    type,
    name,
    version,
    purl: `pkg:npm/${name.replace("@", "%40")}@${version}`,
    ...(hash && { hashes: [{ alg: "SHA-512", content: hash }] }),
    ...(license !== undefined && { licenses: [{ license: { name: license } }] }),
  };
}

const wheel = ({ package: name, version, sha256 }: { package: string; version: string; sha256: string }): Entry => ({
  type: "machine-learning-model",
  name,
  version,
  purl: `pkg:pypi/${name}@${version}`,
  hashes: [{ alg: "SHA-256", content: sha256 }],
});

/** Returns the packages of Tesseract's native library, where the platform has one. */
const nativeTesseract = (platform: string): Entry[] =>
  Object.entries(tesseract.platforms)
    .filter(([key]) => key === platform)
    .flatMap(([, { classifier, sha256 }]) =>
      Object.entries(tesseract.packages).map(([name, { version }]) => ({
        type: "library",
        name: `${tesseract.group}:${name}`,
        version,
        purl: `pkg:maven/${tesseract.group}/${name}@${version}?classifier=${classifier}`,
        hashes: [{ alg: "SHA-256", content: sha256[name as keyof typeof sha256] }],
      })),
    );

interface Crate {
  readonly name: string;
  readonly version: string;
  readonly checksum: string;
}

const crate = ({ name, version, checksum }: Crate): Entry => ({
  type: "library",
  name,
  version,
  purl: `pkg:cargo/${name}@${version}`,
  hashes: [{ alg: "SHA-256", content: checksum }],
});

/** Returns the crates of the sound decoder, whose own package has no checksum. */
function lockedCrates(): Entry[] {
  const lock = readFileSync(join(root, "vendor/sound-decoder/Cargo.lock"), "utf8");
  const { package: crates } = Bun.TOML.parse(lock) as { readonly package: readonly Partial<Crate>[] };
  const isPinned = (entry: Partial<Crate>): entry is Crate => entry.checksum !== undefined;
  return crates.filter(isPinned).map(crate);
}
