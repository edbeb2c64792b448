// Tesseract as a native library, twice as fast as WebAssembly.

import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { NativeTesseract, openTesseract } from "../../../../ffi/tesseract/binding.ts";
import { doubt } from "../../../../ffi/runtime/extract.ts";
import { componentOf, unpacked } from "../../../../ffi/runtime/native-files.ts";
import type { Box, LanguageData } from "../../../domain/recognition.ts";
import { TesseractError, type StartCore, type TesseractCore } from "./tesseract-core.ts";
import { wasmTesseract } from "./tesseract-wasm.ts";

/** Opens the library. Throws an Error with a reason when it cannot be used on this machine. */
export function nativeTesseract(path: string): StartCore {
  const library = opened(path);
  const sound = new Set<string>();
  return async ({ languages, dictionaries, progress }) => {
    const doubtful = languages.filter((one) => !sound.has(one.path) && !componentOf(one.path));
    if (!(await areSound(doubtful))) return undefined;
    for (const one of doubtful) sound.add(one.path);
    const core = new NativeTesseract(library, progress);
    const names = languages.map(({ name }) => name);
    try {
      if (withFolder(languages, (folder) => core.load(folder, names, { dictionaries }))) return reader(core);
    } catch (error) {
      core.close();
      throw error;
    }
    core.close();
    return undefined;
  };
}

function opened(path: string) {
  try {
    return openTesseract(unpacked(path));
  } catch (error) {
    if (componentOf(path)) doubt(dirname(path));
    throw error;
  }
}

/** Loads data as WebAssembly, which survives damage by which Tesseract would end the process. */
async function areSound(languages: readonly LanguageData[]): Promise<boolean> {
  if (languages.length === 0) return true;
  const start = await wasmTesseract();
  return (await start({ languages, dictionaries: true, progress() {} })) !== undefined;
}

/** Calls `work` with a folder in which Tesseract finds the data, which it reads whole. */
function withFolder<T>(languages: readonly LanguageData[], work: (folder: string) => T): T {
  const folder = mkdtempSync(join(tmpdir(), "svc-tesseract-"));
  try {
    for (const { name, path } of languages) symlinkSync(resolve(path), join(folder, `${name}.traineddata`));
    return work(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const reader = (core: NativeTesseract): TesseractCore => ({
  setPicture: (picture, dotsPerInch) => core.setPicture(picture, dotsPerInch),
  read(layout: number, part?: Box) {
    if (part) core.setRectangle(part.x, part.y, part.width, part.height);
    if (!core.recognize(layout)) throw new TesseractError("the recognition failed");
    const rows = core.tsv();
    if (rows === undefined) throw new TesseractError("there is no result");
    return rows;
  },
  clear: () => core.clear(),
  close: () => core.close(),
});
