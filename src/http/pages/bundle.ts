// Bundles the web pages from src/page with Bun: on the first request of a browser, or when the executable is built
// (`embedPages` in packaging/binary.ts then replaces this module with the finished files).

import { basename, join } from "node:path";
import { ASSETS } from "../access.ts";

export interface PageFile {
  readonly type: string;
  readonly body: Blob;
}

/** `index.html`, `docs.html` and the files that they load, by name. The latter names contain a content hash. */
export type PageFiles = ReadonlyMap<string, PageFile>;

const SOURCES = join(import.meta.dir, "../../page");

/** Bundles the pages in about 0.1 s. Throws AggregateError when the sources cannot be bundled. */
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
