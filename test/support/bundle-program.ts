// `bun test/support/bundle-program.ts FOLDER`: bundles the program from source, as executables have it, into FOLDER/main.js. With
// TEST_MAIN naming that file, tests start it instead of src/main.ts, which is the same program and starts sooner: of
// the hundreds of servers and engines of a whole run, each reads a few files instead of hundreds.

import { rmSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { BunPlugin } from "bun";

const root = resolve(import.meta.dir, "../..");

/** Has the modules that look for files beside themselves find them where the source is. */
const ownFolders: BunPlugin = {
  name: "own-folders",
  setup(build) {
    build.onLoad({ filter: /(src\/http\/pages\/bundle|ffi\/runtime\/native-files)\.ts$/ }, async ({ path }) => ({
      loader: "ts",
      contents: (await Bun.file(path).text()).replaceAll("import.meta.dir", JSON.stringify(dirname(path))),
    }));
  },
};

const [, , folder = ""] = process.argv;
const outdir = resolve(folder);
rmSync(outdir, { recursive: true, force: true });
await Bun.build({
  entrypoints: [resolve(root, "src/main.ts")],
  outdir,
  target: "bun",
  splitting: true,
  // Where files that are no code, such as WebAssembly, are read from.
  publicPath: `${outdir}/`,
  // As in executables.
  minify: { whitespace: true, syntax: true, identifiers: false },
  plugins: [ownFolders],
});
