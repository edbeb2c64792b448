// What the native libraries offer and need, of this system's set and, once it was built, of the one for Windows.

import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { symbolTables } from "./symbol-tables.ts";

const { common, ...libraries } = symbolTables;
const SETS = join(import.meta.dir, "../../vendor/.build/lib");

/** What a set's libraries may need beside each other. */
const OF_SYSTEM = {
  // The last two: those of the flavour `sanitize`.
  current: /^(lib(c|m|pthread|dl|rt|asan|ubsan)\.so\.\d|ld-linux-[\w-]+\.so\.\d)$/,
  "windows-x64": /^(advapi32|kernel32|msvcrt|shell32|ws2_32)\.dll$/i,
} as const;

interface Library {
  readonly needs: readonly string[];
  readonly exports: readonly string[];
  /** Folders in which its needs are looked for, beside the system's. */
  readonly searches: readonly string[];
}

/** Reads both formats with the tool that every C++ compiler brings. */
function read(path: string): Library {
  const { stdout } = Bun.spawnSync(["objdump", ...(path.endsWith(".dll") ? ["-p"] : ["-p", "-T"]), path]);
  const text = stdout.toString();
  const all = (pattern: RegExp) => [...text.matchAll(pattern)].map(([, found = ""]) => found);
  return {
    needs: all(/^\s+(?:NEEDED|DLL Name:)\s+(\S+)$/gm),
    exports: path.endsWith(".dll")
      ? all(/^\s+\[ *\d+\] (?:\+base\[ *\d+\] +[\da-f]+ )?(\w+)$/gm)
      : all(/^[\da-f]+ g .*\.text\s.* (\w+)$/gm),
    searches: all(/^\s+(?:RPATH|RUNPATH)\s+(\S+)$/gm),
  };
}

for (const [set, ofSystem] of Object.entries(OF_SYSTEM)) {
  const folder = join(SETS, set);
  const files = existsSync(folder) ? readdirSync(folder).filter((name) => /\.(so|dll)(\.\d+)*$/.test(name)) : [];
  if (files.length === 0) console.log(`the libraries of ${set} are not checked: they are not built`);
  describe.skipIf(files.length === 0)(`the libraries of ${set}`, () => {
    const fileOf = (name: string) => files.find((file) => file.startsWith(`libsvc_${name}.`)) ?? "";
    // The build leaves out the image library where it cannot fetch its sources.
    const tables = Object.entries(libraries).filter(([name]) => name !== "image" || fileOf(name) !== "");

    test.each(tables)("export what the table of %s has, and nothing else of svc", (name, { symbols }) => {
      const { exports } = read(join(folder, fileOf(name)));
      const own = exports.filter((symbol) => symbol.startsWith("svc_"));
      expect(own.toSorted()).toEqual(Object.keys({ ...common?.symbols, ...symbols }).toSorted());
    });

    test("need each other and the system, wherever they are unpacked", () => {
      for (const file of files) {
        const { needs, searches } = read(join(folder, file));
        const missing = needs.filter((name) => !files.includes(name) && !ofSystem.test(name));
        expect({ file, missing }).toEqual({ file, missing: [] });
        // In llama.cpp's published libraries an empty path follows: the working directory, which engines set.
        expect({ file, elsewhere: searches.filter((path) => !/^\$ORIGIN:?$/.test(path)) }).toEqual({
          file,
          elsewhere: [],
        });
      }
    });
  });
}
