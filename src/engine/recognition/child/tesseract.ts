// Reads text in a picture with Tesseract.

import { reasonOf } from "../../../../ffi/runtime/native-error.ts";
import { unpacked } from "../../../../ffi/runtime/native-files.ts";
import { errorMessage } from "../../../domain/error-message.ts";
import type { Box, RecognizedWord, TextTask } from "../../../domain/recognition.ts";
import { systemErrorCode } from "../../../domain/system-error-code.ts";
import type { Bitmap } from "../../../recognition/bitmap.ts";
import type { StartCore, TesseractCore } from "./tesseract-core.ts";
import { nativeTesseract } from "./tesseract-native.ts";
import { wasmTesseract } from "./tesseract-wasm.ts";
import { wordsOf } from "./tsv.ts";
import { UnusableData } from "./unusable-data.ts";

/** How a page is segmented: into columns and blocks, as one block of lines, or into words anywhere. */
const LAYOUT = { automatic: 3, block: 6, sparse: 11 } as const;

export interface TesseractOptions {
  /** Path of the native library; without it, Tesseract runs as WebAssembly. */
  readonly library?: string;
  /** Called about once per line; an error that it throws ends the computation. */
  readonly progress: () => void;
  /** Tells the operator, in a sentence, that the library cannot be used. */
  readonly warn: (text: string) => void;
}

interface Loaded {
  readonly core: TesseractCore;
  /** The languages and the setting that it was loaded for. */
  readonly key: string;
}

export class Tesseract {
  private loaded: Loaded | undefined;

  private constructor(
    private readonly start: StartCore,
    private readonly progress: () => void,
  ) {}

  /** Opens the library or compiles the WebAssembly; the data of languages is loaded when it is first needed. */
  static async load({ library, progress, warn }: TesseractOptions): Promise<Tesseract> {
    if (library === undefined) return new Tesseract(await wasmTesseract(), progress);
    try {
      return new Tesseract(nativeTesseract(library), progress);
    } catch (error) {
      warn(`Text recognition takes twice as long, as WebAssembly: cannot load ${library}: ${reasonOf(error)}`);
      return new Tesseract(await wasmTesseract(), progress);
    }
  }

  /**
   * Returns the words in a picture of this resolution, in reading order. Throws what `progress` throws, or
   * TesseractError or UnusableData; all discard the loaded data.
   */
  words(picture: Bitmap, dotsPerInch: number, task: TextTask): Promise<RecognizedWord[]> {
    return this.reading(picture, dotsPerInch, task, (core) => {
      const words = wordsOf(core.read(LAYOUT.automatic));
      // A picture that is not a page of text, such as a photo of a sign, has no columns and blocks.
      return words.length > 0 || task.level === "fast" ? words : wordsOf(core.read(LAYOUT.sparse));
    });
  }

  /** Returns the words of each part of a picture, which is a block of lines. Throws as `words` does. */
  blocks(picture: Bitmap, dotsPerInch: number, task: TextTask, parts: readonly Box[]): Promise<RecognizedWord[][]> {
    return this.reading(picture, dotsPerInch, task, (core) =>
      parts.map((part) => wordsOf(core.read(LAYOUT.block, part))),
    );
  }

  private async reading<T>(
    picture: Bitmap,
    dotsPerInch: number,
    task: TextTask,
    work: (core: TesseractCore) => T,
  ): Promise<T> {
    try {
      const core = await this.loadedFor(task);
      core.setPicture(picture, dotsPerInch);
      const result = work(core);
      core.clear();
      return result;
    } catch (error) {
      // It stopped in the middle and may be in any state.
      this.discard();
      throw error;
    }
  }

  private async loadedFor({ languages, correction }: TextTask): Promise<TesseractCore> {
    const key = JSON.stringify([languages, correction]);
    if (this.loaded?.key === key) return this.loaded.core;
    this.discard();
    const core = await this.started({ languages, correction });
    if (!core) {
      const paths = languages.map(({ path }) => path);
      throw new UnusableData(`Tesseract cannot load the data in ${paths.join(", ")}`);
    }
    this.loaded = { core, key };
    return core;
  }

  private async started({ languages, correction }: Pick<TextTask, "languages" | "correction">) {
    const unusable = (error: unknown) => new UnusableData(errorMessage(error));
    try {
      for (const { path } of languages) unpacked(path);
    } catch (error) {
      throw unusable(error);
    }
    try {
      return await this.start({ languages, dictionaries: correction, progress: this.progress });
    } catch (error) {
      throw systemErrorCode(error) === undefined ? error : unusable(error);
    }
  }

  private discard(): void {
    this.loaded?.core.close();
    this.loaded = undefined;
  }
}
