// Files of every kind, damaged in a way that once did harm, given to the real program.

import { expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { sharedFolder } from "../support/folders.ts";
import { kinds, load, type FileKind } from "./corrupt-files.ts";

/** Damages by their names: of what, and how its bytes become others. */
export type Damages = Readonly<Record<string, readonly [keyof typeof kinds, (bytes: Buffer) => Buffer | void]>>;

/** Writes a number behind a key's name and the type of its value. */
export const set = (key: string, value: number) => (bytes: Buffer) => {
  bytes.writeUInt32LE(value, bytes.indexOf(key) + key.length + 4);
};

/** One test for each. */
export function damageTests(damages: Damages): void {
  const folder = sharedFolder();

  /** What the build makes with pip. */
  const isThere = (name: string): boolean => {
    const kind: FileKind = kinds[damages[name]?.[0] ?? "model"];
    if (kind.isBuilt?.() !== false) return true;
    console.log(`not tested, as its file is not built (\`bun build.ts media\`): ${name}`);
    return false;
  };

  test.each(Object.keys(damages).filter(isThere))("%s is named, and not served", async (name) => {
    const [kind, damage] = damages[name] ?? (["model", () => {}] as const);
    const bytes = readFileSync(kinds[kind].file(folder));
    const damaged = join(folder, "damaged.gguf");
    writeFileSync(damaged, damage(bytes) ?? bytes);
    expect(await load(kinds[kind], damaged, folder)).toEqual({ end: "refused" });
  });
}
