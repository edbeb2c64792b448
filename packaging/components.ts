// Packs the components of the executable: files that are compressed together, and unpacked together on first use.

import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { crc32 } from "node:zlib";
import type { BunPlugin } from "bun";
import { COMPONENTS, type Component, type ComponentName } from "../ffi/runtime/embedded.ts";
import { archiveName } from "../ffi/runtime/extract.ts";
import { BuildError, markUsed, place, removeUnused, step } from "../vendor/run.ts";

/** Compression levels of zstd: what this machine alone is to run is a little larger, and packed in a fifth of the time. */
const LEVELS = { release: 12, local: 3 } as const;
const out = join(import.meta.dir, "../vendor/.build");

/** Components inside svc-slim, which downloads the others. */
const SLIM: readonly ComponentName[] = ["base", "recognition"];

export const BINARIES = ["svc", "svc-slim"] as const;
export type BinaryName = (typeof BINARIES)[number];

const isInside = ({ name }: Pick<Component, "name">, binary: BinaryName): boolean =>
  binary === "svc" || SLIM.includes(name);

/** A component whose archive has been made. */
export interface Packed extends Component {
  /** Path of the archive. */
  readonly archive: string;
}

/** Paths of the files of each component; undefined for one that could not be made. */
type ComponentFiles = Readonly<Record<ComponentName, readonly (string | undefined)[]>>;

/** Throws BuildError about the first component that lacks a file, which no release may. */
export function requireAll(files: ComponentFiles): void {
  const lacking = COMPONENTS.find((name) => files[name].length === 0 || files[name].includes(undefined));
  if (lacking === undefined) return;
  throw new BuildError(`The component ${lacking} lacks a file that a release must have; a line above says why.`);
}

/**
 * Packs the files of each component into a compressed archive in `folder`, named by content so that nothing is compressed
 * twice. Removes archives that no build has used for a day.
 */
export async function packComponents(
  files: ComponentFiles,
  use: keyof typeof LEVELS,
  folder = out,
): Promise<readonly Packed[]> {
  const packed: Packed[] = [];
  for (const name of COMPONENTS) {
    const paths = files[name].filter((path) => path !== undefined);
    packed.push(await pack(folder, name, paths, LEVELS[use]));
  }
  removeUnused(folder, /^(embedded|component)-.*\.zst(\.part-\d+)?$/);
  return packed;
}

async function pack(
  folder: string,
  component: ComponentName,
  paths: readonly string[],
  level: number,
): Promise<Packed> {
  const contents = paths.map((path) => readFileSync(path));
  const files = contents.map((content, index) => {
    return { name: basename(paths[index] ?? ""), size: content.length, crc32: crc32(content) };
  });
  const hash = new Bun.CryptoHasher("sha256").update(JSON.stringify(files));
  for (const content of contents) hash.update(content);
  const id = hash.digest("hex").slice(0, 16);
  const archive = join(folder, `component-${component}-${id}-${level}.zst`);
  if (existsSync(archive)) markUsed(archive);
  else {
    await step(`packed the component ${component}`, async () => {
      const part = `${archive}.part-${process.pid}`;
      await Bun.write(part, await Bun.zstdCompress(Buffer.concat(contents), { level }));
      renameSync(part, archive);
    });
  }
  const content = readFileSync(archive);
  const sha256 = new Bun.CryptoHasher("sha256").update(content).digest("hex");
  return { name: component, id, files, archive, bytes: content.length, sha256 };
}

/** Puts the archives that svc-slim does not contain into `dist/components`, under their names in a release. */
export function placeArchives(components: readonly Packed[]): void {
  const folder = join(import.meta.dir, "../dist/components");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const component of components) {
    if (!isInside(component, "svc-slim")) place(component.archive, join(folder, archiveName(component)));
  }
}

/** Replaces ffi/runtime/embedded.ts by a module with these components. */
export function embed(components: readonly Packed[], binary: BinaryName): BunPlugin {
  const inside = components.filter((component) => isInside(component, binary));
  const imports = inside.map(
    ({ name, archive }) => `import ${name} from ${JSON.stringify(archive)} with { type: "file" };`,
  );
  const rows = components.map((component) => {
    const known = JSON.stringify({ ...component, archive: undefined });
    return isInside(component, binary) ? `{ ...${known}, archive: ${component.name} }` : known;
  });
  const contents = `${imports.join("\n")}
    export const COMPONENTS = ${JSON.stringify(COMPONENTS)};
    export const embedded = [${rows.join(", ")}];`;
  return {
    name: "embed",
    setup(build) {
      build.onLoad({ filter: /ffi\/runtime\/embedded\.ts$/ }, () => ({ loader: "ts", contents }));
    },
  };
}
