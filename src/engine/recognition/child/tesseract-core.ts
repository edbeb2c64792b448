// Tesseract as WebAssembly: tesseract.js-core's builds for LSTM models, and the part of their interface used here.

import createRelaxed from "tesseract.js-core/tesseract-core-relaxedsimd-lstm.js";
import relaxedWasm from "tesseract.js-core/tesseract-core-relaxedsimd-lstm.wasm" with { type: "file" };
import createPlain from "tesseract.js-core/tesseract-core-lstm.js";
import plainWasm from "tesseract.js-core/tesseract-core-lstm.wasm" with { type: "file" };
import { limitedModule } from "./wasm-memory.ts";

/** Tesseract's API object; its functions are those of TessBaseAPI in C++. */
export interface TessApi {
  /** Returns 0, or -1 when a language's data cannot be read. `config`: path of a file with variables. */
  Init(folder: string, languages: string, engineMode: number, config: string): number;
  SetPageSegMode(mode: number): void;
  /** Reads the picture `/input` from the core's files. Returns 0, or 1 when it is not a picture. */
  SetImageFile(exifOrientation: number, degrees: number): number;
  SetSourceResolution(dotsPerInch: number): void;
  /** Limits `Recognize` to a part of the picture; words keep their positions in the picture. */
  SetRectangle(left: number, top: number, width: number, height: number): void;
  /** Returns 0, or -1 when it failed. */
  Recognize(monitor: null): number;
  GetTSVText(page: number): string;
  Clear(): void;
}

export interface TesseractCore {
  readonly TessBaseAPI: new () => TessApi;
  /** The file system in memory. */
  readonly FS: { writeFile(path: string, content: Uint8Array | string): void; unlink(path: string): void };
}

export type CreateCore = (options: {
  readonly instantiateWasm: (
    imports: Bun.WebAssembly.Imports,
    done: (instance: WebAssembly.Instance) => void,
  ) => Record<string, never>;
  /** Called about once per line while a page is read. */
  readonly TesseractProgress: (percent: number) => void;
  readonly print: (text: string) => void;
  readonly printErr: (text: string) => void;
}) => Promise<TesseractCore>;

/**
 * Creates an instance of Tesseract; all share their machine code. An error that `progress` throws ends the computation,
 * and the instance must then not be used again.
 */
export type StartTesseract = (progress: () => void) => Promise<TesseractCore>;

/** Compiles the build for this processor: with relaxed SIMD where it is supported, else without SIMD. */
export async function compileTesseract(): Promise<StartTesseract> {
  try {
    return await compile(relaxedWasm, createRelaxed);
  } catch (error) {
    if (!(error instanceof WebAssembly.CompileError)) throw error;
    return compile(plainWasm, createPlain);
  }
}

async function compile(path: string, create: CreateCore): Promise<StartTesseract> {
  const module = await WebAssembly.compile(await limitedModule(path));
  return (progress) => {
    // Emscripten is told only of an instance, not that there will be none.
    const failed = Promise.withResolvers<never>();
    const created = create({
      instantiateWasm(imports, done) {
        WebAssembly.instantiate(module, imports).then(done, failed.reject);
        return {};
      },
      TesseractProgress: progress,
      // Its output is only about fonts and resolutions.
      print() {},
      printErr() {},
    });
    return Promise.race([created, failed.promise]);
  };
}
