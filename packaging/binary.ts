// Compiles the executables: svc, which has everything inside, and svc-slim, which downloads what most people do not need.

import { existsSync, renameSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import type { BunPlugin } from "bun";
import packageJson from "../package.json" with { type: "json" };
import { bundlePages } from "../src/http/pages/bundle.ts";
import { fetchPackage, type PinnedPackage } from "../vendor/fetch.ts";
import { usualFlavour, type Flavour } from "../vendor/llama.ts";
import { BuildError, fingerprint, makeFolder, markUsed, removeUnused, run, step } from "../vendor/run.ts";
import { forWindows, isForeign, platform as ownPlatform } from "../vendor/target.ts";
import versions from "../vendor/versions.json" with { type: "json" };
import { compileOptions } from "./compile-options.ts";
import { embed, type BinaryName, type Packed } from "./components.ts";

const root = join(import.meta.dir, "..");

/** Returns platform and flavour as they appear in the file names of a release. */
export const platformOf = (flavour: Flavour): string =>
  `${ownPlatform}${flavour === usualFlavour ? "" : `-${flavour}`}`;

/** Returns the file name of an executable: Windows programs have an ending, which Bun adds where it is missing. */
export const executableOf = (name: string): string => (forWindows ? `${name}.exe` : name);

/** Compiles `dist/NAME`. The environment variable SVC_RELEASES is the address of future releases. Throws BuildError. */
export async function buildBinary(
  name: BinaryName,
  components: readonly Packed[],
  pages: readonly WrittenPage[],
  platform: string,
): Promise<void> {
  const executable = join(root, "dist", executableOf(name));
  // Written under another name first, so that running dist/svc meanwhile finds the old or the new file, never a part.
  const outfile = join(root, "dist", executableOf(`${name}.part-${process.pid}`));
  const releases = process.env["SVC_RELEASES"];
  await step(`compiled dist/${name}`, async () => {
    const result = await Bun.build({
      entrypoints: [join(root, "src/main.ts")],
      ...compileOptions(outfile, await foreignBun()),
      define: {
        SVC_VERSION: JSON.stringify(packageJson.version),
        SVC_COMMIT: JSON.stringify(await commit()),
        SVC_BUILD: JSON.stringify({ name, platform }),
        SVC_RELEASES: releases === undefined ? "undefined" : JSON.stringify(releases),
      },
      plugins: [embed(components, name), embedPages(pages)],
    });
    if (!result.success) throw new BuildError(result.logs.map(String).join("\n"));
    renameSync(outfile, executable);
  });
  console.log(`dist/${basename(executable)}: ${(statSync(executable).size / 2 ** 20).toFixed(0)} MiB`);
}

/** Returns the options that compile for another system than this one. */
async function foreignBun(): Promise<Partial<Bun.CompileBuildOptions>> {
  if (!isForeign) return {};
  const pins: Readonly<Record<string, PinnedPackage | undefined>> = versions.bun;
  const pin = pins[ownPlatform];
  if (!pin) throw new BuildError(`vendor/versions.json has no Bun for ${ownPlatform}.`);
  const folder = await fetchPackage(pin, join(root, "vendor/.build/packages"));
  const target = `bun-${ownPlatform}` as Bun.Build.CompileTarget;
  return { target, executablePath: join(folder, `bin/bun${forWindows ? ".exe" : ""}`) };
}

/** A bundled file of the web pages. */
interface WrittenPage {
  readonly name: string;
  readonly path: string;
  readonly type: string;
}

/** Bundles the web pages into files, in a folder named by content. */
export async function writePages(): Promise<WrittenPage[]> {
  const pages = await Promise.all(
    [...(await bundlePages())].map(async ([name, { type, body }]) => ({ name, type, bytes: await body.arrayBuffer() })),
  );
  const id = fingerprint(pages.map(({ name, bytes }) => [name, Bun.SHA256.hash(bytes, "hex")]));
  const all = join(root, "vendor/.build/pages");
  const folder = join(all, id);
  if (existsSync(folder)) markUsed(folder);
  else {
    await makeFolder(folder, async (temporary) => {
      for (const { name, bytes } of pages) await Bun.write(join(temporary, name), bytes);
    });
  }
  removeUnused(all, /./);
  return pages.map(({ name, type }) => ({ name, type, path: join(folder, name) }));
}

/** Replaces src/http/pages/bundle.ts by the finished files. */
function embedPages(pages: readonly WrittenPage[]): BunPlugin {
  const imports = pages.map(
    ({ path }, index) => `import page${index} from ${JSON.stringify(path)} with { type: "file" };`,
  );
  const entries = pages.map(({ name, type }, index) => {
    return `[${JSON.stringify(name)}, { type: ${JSON.stringify(type)}, body: Bun.file(page${index}) }]`;
  });
  return {
    name: "embed-pages",
    setup(build) {
      build.onLoad({ filter: /src\/http\/pages\/bundle\.ts$/ }, () => ({
        loader: "ts",
        contents: `${imports.join("\n")}
          const files = new Map([${entries.join(", ")}]);
          export const bundlePages = async () => files;`,
      }));
    },
  };
}

async function commit(): Promise<string> {
  try {
    return (await run(["git", "-C", root, "rev-parse", "--short", "HEAD"])).trim();
  } catch {
    return "unknown";
  }
}
