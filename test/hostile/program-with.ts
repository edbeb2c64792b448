// The program from source, with one file of its build folder replaced.

import { cpSync, existsSync, mkdirSync, readdirSync, symlinkSync, unlinkSync } from "node:fs";
import { join } from "node:path";

const ROOT = join(import.meta.dir, "../..");
const BUILD = "vendor/.build";

/**
 * Returns the command that starts it. `folder`: for copies, one per file, created once; `place`: the file's place in
 * the build folder (`set/current/name`).
 */
export function programWith(folder: string, place: string, file: string): readonly string[] {
  const [set = "", current = "", name = ""] = place.split("/");
  const copy = join(folder, `${set}-${name}`);
  if (!existsSync(copy)) makeCopy(copy, set, current);
  const path = join(copy, BUILD, set, current, name);
  unlinkSync(path);
  symlinkSync(file, path);
  return [process.execPath, join(copy, "src/main.ts")];
}

/** Copies the source, which looks for other files next to itself; everything else is linked. */
function makeCopy(copy: string, set: string, current: string): void {
  for (const name of ["src", "ffi"]) cpSync(join(ROOT, name), join(copy, name), { recursive: true });
  linkAll(copy, "", (name) => ["package.json", "tsconfig.json", "node_modules"].includes(name));
  linkAll(copy, "vendor", (name) => name !== ".build");
  linkAll(copy, BUILD, (name) => name !== set);
  linkAll(copy, join(BUILD, set, current), () => true);
}

function linkAll(copy: string, folder: string, isWanted: (name: string) => boolean): void {
  mkdirSync(join(copy, folder), { recursive: true });
  for (const name of readdirSync(join(ROOT, folder)).filter(isWanted)) {
    symlinkSync(join(ROOT, folder, name), join(copy, folder, name));
  }
}
