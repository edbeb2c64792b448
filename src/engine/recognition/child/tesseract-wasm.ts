// Tesseract as WebAssembly: tesseract.js-core's builds for LSTM models, and the part of their interface used here.

import { readFileSync } from "node:fs";
import createRelaxed from "tesseract.js-core/tesseract-core-relaxedsimd-lstm.js";
import relaxedWasm from "tesseract.js-core/tesseract-core-relaxedsimd-lstm.wasm" with { type: "file" };
import createPlain from "tesseract.js-core/tesseract-core-lstm.js";
import plainWasm from "tesseract.js-core/tesseract-core-lstm.wasm" with { type: "file" };
import type { Bitmap } from "../../../recognition/bitmap.ts";
import { TesseractError, type CoreOptions, type StartCore, type TesseractCore } from "./tesseract-core.ts";
import { limitedModule } from "./wasm-memory.ts";

const LSTM_ONLY = 1;
/** Dictionaries have an effect only if they are loaded, which is decided before initialization. */
const NO_DICTIONARIES = "load_system_dawg 0\nload_freq_dawg 0\n";
const CONFIG = "/config";

/** Tesseract's API object; its functions are those of TessBaseAPI in C++. */
interface Api {
  /** Returns 0, or -1 when a language's data cannot be read. `config`: path of a file with variables. */
  Init(folder: string, languages: string, engineMode: number, config: string): number;
  SetPageSegMode(mode: number): void;
  /** Reads the picture `/input` from the module's files. Returns 0, or 1 when it is not a picture. */
  SetImageFile(exifOrientation: number, degrees: number): number;
  SetSourceResolution(dotsPerInch: number): void;
  /** Limits `Recognize` to a part of the picture; words keep their positions in the picture. */
  SetRectangle(left: number, top: number, width: number, height: number): void;
  /** Returns 0, or -1 when it failed. */
  Recognize(monitor: null): number;
  GetTSVText(page: number): string;
  Clear(): void;
}

interface Instance {
  readonly TessBaseAPI: new () => Api;
  /** The file system in memory. */
  readonly FS: { writeFile(path: string, content: Uint8Array | string): void; unlink(path: string): void };
}

export type CreateInstance = (options: {
  readonly instantiateWasm: (
    imports: Bun.WebAssembly.Imports,
    done: (instance: WebAssembly.Instance) => void,
  ) => Record<string, never>;
  /** Called about once per line while a page is read. */
  readonly TesseractProgress: (percent: number) => void;
  readonly print: (text: string) => void;
  readonly printErr: (text: string) => void;
}) => Promise<Instance>;

/** Compiles the build for this processor: with relaxed SIMD where it is supported, else without SIMD. */
export async function wasmTesseract(): Promise<StartCore> {
  try {
    return await compile(relaxedWasm, createRelaxed);
  } catch (error) {
    if (!(error instanceof WebAssembly.CompileError)) throw error;
    return compile(plainWasm, createPlain);
  }
}

/** All instances share their machine code. An error that `progress` throws leaves an instance that is of no use. */
async function compile(path: string, create: CreateInstance): Promise<StartCore> {
  const module = await WebAssembly.compile(await limitedModule(path));
  return async (options) => {
    // Emscripten is told only of an instance, not that there will be none.
    const failed = Promise.withResolvers<never>();
    const created = create({
      instantiateWasm(imports, done) {
        WebAssembly.instantiate(module, imports).then(done, failed.reject);
        return {};
      },
      TesseractProgress: options.progress,
      // Its output is only about fonts and resolutions.
      print() {},
      printErr() {},
    });
    return initialized(await Promise.race([created, failed.promise]), options);
  };
}

function initialized({ FS, TessBaseAPI }: Instance, { languages, dictionaries }: CoreOptions) {
  for (const { name, path } of languages) FS.writeFile(`/${name}.traineddata`, readFileSync(path));
  FS.writeFile(CONFIG, dictionaries ? "" : NO_DICTIONARIES);
  const api = new TessBaseAPI();
  const names = languages.map(({ name }) => name);
  if (!isInitialized(api, names.join("+"))) return undefined;
  // Tesseract has copied what it needs into its own memory.
  for (const name of names) FS.unlink(`/${name}.traineddata`);
  return core(FS, api);
}

/** Returns whether Tesseract took the data. Damaged data may also crash its code. */
function isInitialized(api: Api, languages: string): boolean {
  try {
    return api.Init("/", languages, LSTM_ONLY, CONFIG) === 0;
  } catch (error) {
    // Emscripten throws numbers for C++ exceptions.
    if (error instanceof WebAssembly.RuntimeError || typeof error === "number") return false;
    throw error;
  }
}

const core = (FS: Instance["FS"], api: Api): TesseractCore => ({
  setPicture(picture, dotsPerInch) {
    FS.writeFile("/input", graymap(picture));
    if (api.SetImageFile(1, 0) !== 0) throw new TesseractError("the picture cannot be read");
    api.SetSourceResolution(dotsPerInch);
  },
  read(layout, part) {
    if (part) api.SetRectangle(part.x, part.y, part.width, part.height);
    api.SetPageSegMode(layout);
    try {
      if (api.Recognize(null) !== 0) throw new TesseractError("the recognition failed");
      return api.GetTSVText(0);
    } catch (error) {
      throw error instanceof WebAssembly.RuntimeError ? new TesseractError(error.message) : error;
    }
  },
  clear: () => api.Clear(),
  // The garbage collector frees an instance.
  close() {},
});

/** Returns the picture as a PGM file, the simplest format. */
function graymap({ width, height, data }: Bitmap): Uint8Array {
  return Buffer.concat([Buffer.from(`P5\n${width} ${height}\n255\n`), data]);
}
