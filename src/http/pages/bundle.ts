// The web pages as files, made of src/page by Bun's bundler: when the first browser asks, or, in the executable, when that
// is built (`embedPages` of build.ts puts the finished files in the place of this module).

import { basename, join } from "node:path";
import { ASSETS } from "../access.ts";

export interface PageFile {
  readonly type: string;
  readonly body: Blob;
}

/** `index.html`, `docs.html` and what these load, by name. Names of the latter have a hash of their content. */
export type PageFiles = ReadonlyMap<string, PageFile>;

const SOURCES = join(import.meta.dir, "../../page");

/** Bundles the pages; a tenth of a second. Throws AggregateError about sources that cannot be bundled. */
export async function bundlePages(): Promise<PageFiles> {
  const { outputs } = await Bun.build({
    entrypoints: ["index.html", "docs.html"].map((name) => join(SOURCES, name)),
    target: "browser",
    publicPath: ASSETS,
    minify: true,
    naming: { entry: "[name].[ext]", chunk: "[name]-[hash].[ext]", asset: "[name]-[hash].[ext]" },
  });
  return new Map(outputs.map((output) => [basename(output.path), { type: output.type, body: output }]));
}
