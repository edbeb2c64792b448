// Text in a picture, by Tesseract.

import { readFileSync } from "node:fs";
import { unpacked } from "../../../../ffi/runtime/native-files.ts";
import { errorMessage } from "../../../domain/error-message.ts";
import type { LanguageData, RecognizedWord, TextTask } from "../../../domain/recognition.ts";
import type { Bitmap } from "../../../recognition/bitmap.ts";
import { compileTesseract, type TessApi, type TesseractCore, type TesseractProgram } from "./tesseract-core.ts";
import { wordsOf } from "./tsv.ts";

const LSTM_ONLY = 1;
/** How a page is taken apart: into columns and blocks, or as words anywhere. */
const LAYOUT = { automatic: 3, sparse: 11 } as const;
/** Words of dictionaries count only where these are loaded, which has to be said before. */
const NO_DICTIONARIES = "load_system_dawg 0\nload_freq_dawg 0\n";
const CONFIG = "/config";

/** Tesseract could not read a page: it is out of memory, or has met what it does not expect. */
class TesseractError extends Error {
  override readonly name = "TesseractError";
}

/** Trained data that cannot be loaded; the message names its files. */
export class LanguageDataError extends TesseractError {}

interface Loaded {
  readonly core: TesseractCore;
  readonly api: TessApi;
  /** What it was loaded for. */
  readonly key: string;
}

export class Tesseract {
  private loaded: Loaded | undefined;

  private constructor(
    private readonly program: TesseractProgram,
    /** Called about once a line; what it throws ends the computation. */
    private readonly progress: () => void,
  ) {}

  /** Compiles Tesseract; data of languages is loaded when it is needed first. */
  static async load(progress: () => void): Promise<Tesseract> {
    return new Tesseract(await compileTesseract(), progress);
  }

  /**
   * The words in a picture of so many dots an inch, in the order in which one reads them. Throws what `progress` throws, or
   * TesseractError; both cost the loaded data.
   */
  async words(picture: Bitmap, dotsPerInch: number, task: TextTask): Promise<RecognizedWord[]> {
    try {
      const { core, api } = await this.loadedFor(task);
      core.FS.writeFile("/input", graymap(picture));
      const words = read(api, dotsPerInch, LAYOUT.automatic);
      // What is no page of text, as a photo with a sign in it, has no columns and blocks.
      return words.length > 0 || task.level === "fast" ? words : read(api, dotsPerInch, LAYOUT.sparse);
    } catch (error) {
      // It stopped somewhere in the middle, and may be in any state.
      this.loaded = undefined;
      throw error instanceof WebAssembly.RuntimeError ? new TesseractError(error.message) : error;
    }
  }

  private async loadedFor({ languages, correction }: TextTask): Promise<Loaded> {
    const key = JSON.stringify([languages, correction]);
    if (this.loaded?.key === key) return this.loaded;
    this.loaded = undefined;
    const core = await this.program.start(this.progress);
    for (const data of languages) core.FS.writeFile(`/${data.name}.traineddata`, contentOf(data));
    core.FS.writeFile(CONFIG, correction ? "" : NO_DICTIONARIES);
    const api = new core.TessBaseAPI();
    if (!isInitialized(api, languages)) {
      const paths = languages.map(({ path }) => path);
      throw new LanguageDataError(`Tesseract cannot load the data in ${paths.join(", ")}`);
    }
    // It has what it needs in its own memory.
    for (const { name } of languages) core.FS.unlink(`/${name}.traineddata`);
    return (this.loaded = { core, api, key });
  }
}

/** The embedded data is unpacked when it is first read. */
function contentOf({ path }: LanguageData): Uint8Array {
  try {
    return readFileSync(unpacked(path));
  } catch (error) {
    throw new LanguageDataError(errorMessage(error));
  }
}

/** Damaged data ends its code in the middle, too. */
function isInitialized(api: TessApi, languages: TextTask["languages"]): boolean {
  try {
    return api.Init("/", languages.map(({ name }) => name).join("+"), LSTM_ONLY, CONFIG) === 0;
  } catch (error) {
    // Emscripten throws numbers for what C++ throws.
    if (error instanceof WebAssembly.RuntimeError || typeof error === "number") return false;
    throw error;
  }
}

function read(api: TessApi, dotsPerInch: number, layout: number): RecognizedWord[] {
  api.SetPageSegMode(layout);
  if (api.SetImageFile(1, 0) !== 0) throw new TesseractError("the picture cannot be read");
  api.SetSourceResolution(dotsPerInch);
  if (api.Recognize(null) !== 0) throw new TesseractError("the recognition failed");
  const words = wordsOf(api.GetTSVText(0));
  api.Clear();
  return words;
}

/** The picture as a file of the simplest format there is. */
function graymap({ width, height, data }: Bitmap): Uint8Array {
  return Buffer.concat([Buffer.from(`P5\n${width} ${height}\n255\n`), data]);
}
