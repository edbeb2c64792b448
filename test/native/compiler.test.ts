// When native libraries are compiled anew: those of another compiler may need another C++ runtime.

import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { compiler } from "../../vendor/target.ts";
import { temporaryFolder } from "../support/folders.ts";

/** Returns what names a library where the compiler says this of itself; undefined: there is no compiler. */
function namedWith(version: string | undefined): string {
  const folder = temporaryFolder();
  if (version !== undefined) {
    writeFileSync(join(folder, compiler), `#!/bin/sh\necho "${compiler} ${version}"\n`, { mode: 0o755 });
  }
  const code = `console.log(JSON.stringify((await import("../../vendor/shim.ts")).shimFingerprint("llama")))`;
  const { stdout } = Bun.spawnSync([process.execPath, "-e", code], { cwd: import.meta.dir, env: { PATH: folder } });
  return stdout.toString();
}

test("libraries have another name with another version of the compiler, and none is needed to name them", () => {
  const names = [namedWith("12.2.0"), namedWith("14.1.0"), namedWith(undefined)];
  for (const name of names) expect(name).toContain("shim.h");
  expect(new Set(names).size).toBe(3);
  expect(namedWith("12.2.0")).toBe(names[0] ?? "");
});
