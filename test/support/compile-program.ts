// `bun test/support/compile-program.ts FILE`: compiles the program as executables are, but with native libraries, models
// and pages where the source has them. With TEST_PROGRAM naming that file, tests start it instead of src/main.ts, which
// is the same program and starts sooner; a whole run starts hundreds.

import { dirname, resolve } from "node:path";
import type { BunPlugin } from "bun";
import { compileOptions } from "../../packaging/compile-options.ts";

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

const [, , outfile = ""] = process.argv;
await Bun.build({
  entrypoints: [resolve(root, "src/main.ts")],
  ...compileOptions(outfile),
  plugins: [ownFolders],
});
