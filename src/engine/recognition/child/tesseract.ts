// Reads text in a picture with Tesseract.

import { readFileSync } from "node:fs";
import { unpacked } from "../../../../ffi/runtime/native-files.ts";
import { errorMessage } from "../../../domain/error-message.ts";
import type { Box, LanguageData, RecognizedWord, TextTask } from "../../../domain/recognition.ts";
import type { Bitmap } from "../../../recognition/bitmap.ts";
import { compileTesseract, type StartTesseract, type TessApi, type TesseractCore } from "./tesseract-core.ts";
import { wordsOf } from "./tsv.ts";
import { UnusableData } from "./unusable-data.ts";

const LSTM_ONLY = 1;
/** How a page is segmented: into columns and blocks, as one block of lines, or into words anywhere. */
const LAYOUT = { automatic: 3, block: 6, sparse: 11 } as const;
/** Dictionaries have an effect only if they are loaded, which is decided before initialization. */
const NO_DICTIONARIES = "load_system_dawg 0\nload_freq_dawg 0\n";
const CONFIG = "/config";

/** Tesseract could not read a page: it is out of memory or met something unexpected. */
class TesseractError extends Error {
  override readonly name = "TesseractError";
}

interface Loaded {
  readonly core: TesseractCore;
  readonly api: TessApi;
  /** The languages and the setting that it was loaded for. */
  readonly key: string;
}

export class Tesseract {
  private loaded: Loaded | undefined;

  private constructor(
    private readonly start: StartTesseract,
    /** Called about once per line; an error that it throws ends the computation. */
    private readonly progress: () => void,
  ) {}

  /** Compiles Tesseract; the data of languages is loaded when it is first needed. */
  static async load(progress: () => void): Promise<Tesseract> {
    return new Tesseract(await compileTesseract(), progress);
  }

  /**
   * Returns the words in a picture of this resolution, in reading order. Throws what `progress` throws, or
   * TesseractError or UnusableData; all discard the loaded data.
   */
  words(picture: Bitmap, dotsPerInch: number, task: TextTask): Promise<RecognizedWord[]> {
    return this.reading(picture, dotsPerInch, task, (api) => {
      const words = read(api, LAYOUT.automatic);
      // A picture that is not a page of text, such as a photo of a sign, has no columns and blocks.
      return words.length > 0 || task.level === "fast" ? words : read(api, LAYOUT.sparse);
    });
  }

  /** Returns the words of each part of a picture, which is a block of lines. Throws as `words` does. */
  blocks(picture: Bitmap, dotsPerInch: number, task: TextTask, parts: readonly Box[]): Promise<RecognizedWord[][]> {
    return this.reading(picture, dotsPerInch, task, (api) =>
      parts.map(({ x, y, width, height }) => {
        api.SetRectangle(x, y, width, height);
        return read(api, LAYOUT.block);
      }),
    );
  }

  private async reading<T>(
    picture: Bitmap,
    dotsPerInch: number,
    task: TextTask,
    work: (api: TessApi) => T,
  ): Promise<T> {
    try {
      const { core, api } = await this.loadedFor(task);
      core.FS.writeFile("/input", graymap(picture));
      if (api.SetImageFile(1, 0) !== 0) throw new TesseractError("the picture cannot be read");
      api.SetSourceResolution(dotsPerInch);
      const result = work(api);
      api.Clear();
      return result;
    } catch (error) {
      // It stopped in the middle and may be in any state.
      this.loaded = undefined;
      throw error instanceof WebAssembly.RuntimeError ? new TesseractError(error.message) : error;
    }
  }

  private async loadedFor({ languages, correction }: TextTask): Promise<Loaded> {
    const key = JSON.stringify([languages, correction]);
    if (this.loaded?.key === key) return this.loaded;
    this.loaded = undefined;
    const core = await this.start(this.progress);
    for (const data of languages) core.FS.writeFile(`/${data.name}.traineddata`, contentOf(data));
    core.FS.writeFile(CONFIG, correction ? "" : NO_DICTIONARIES);
    const api = new core.TessBaseAPI();
    if (!isInitialized(api, languages)) {
      const paths = languages.map(({ path }) => path);
      throw new UnusableData(`Tesseract cannot load the data in ${paths.join(", ")}`);
    }
    // Tesseract has copied what it needs into its own memory.
    for (const { name } of languages) core.FS.unlink(`/${name}.traineddata`);
    return (this.loaded = { core, api, key });
  }
}

/** Returns the data's bytes; embedded data is unpacked when it is first read. */
function contentOf({ path }: LanguageData): Uint8Array {
  try {
    return readFileSync(unpacked(path));
  } catch (error) {
    throw new UnusableData(errorMessage(error));
  }
}

/** Returns whether Tesseract took the data. Damaged data may also crash its code. */
function isInitialized(api: TessApi, languages: TextTask["languages"]): boolean {
  try {
    return api.Init("/", languages.map(({ name }) => name).join("+"), LSTM_ONLY, CONFIG) === 0;
  } catch (error) {
    // Emscripten throws numbers for C++ exceptions.
    if (error instanceof WebAssembly.RuntimeError || typeof error === "number") return false;
    throw error;
  }
}

function read(api: TessApi, layout: number): RecognizedWord[] {
  api.SetPageSegMode(layout);
  if (api.Recognize(null) !== 0) throw new TesseractError("the recognition failed");
  return wordsOf(api.GetTSVText(0));
}

/** Returns the picture as a PGM file, the simplest format. */
function graymap({ width, height, data }: Bitmap): Uint8Array {
  return Buffer.concat([Buffer.from(`P5\n${width} ${height}\n255\n`), data]);
}
