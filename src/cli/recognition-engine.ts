// Creates the engine that recognises text in pictures, and finds its language data.

import { join } from "node:path";
import { bytesOf, type NativeFiles } from "../../ffi/runtime/native-files.ts";
import type { Config } from "../config/config.ts";
import { processEnvironment, type Environment } from "../config/environment.ts";
import { SvcError } from "../domain/errors.ts";
import { physicalCores } from "../engine/process/machine.ts";
import type { PpocrFiles } from "../engine/recognition/protocol.ts";
import { RecognitionEngine } from "../engine/recognition/recognition-engine.ts";
import { TextLanguages } from "../service/text-languages.ts";
import { SYSTEM_FOLDERS, Tessdata } from "../store/tessdata.ts";
import { SYSTEM_ENGINE, whileUsed, type Setup } from "./engines.ts";
import { ExitError } from "./exit-codes.ts";

/** Minimum memory of a process in bytes, without PP-OCR. */
const LEAST_BYTES = 150e6;
/** Processes when no thread count is configured: more would keep the cores from other work. */
const USUAL_PROCESSES = 2;
/** Each process needs 150 to 300 MB, and 0.8 GB with PP-OCR. */
const MOST_PROCESSES = 4;

/** Creates the engine, which is loaded on first use. */
export function recognitionEngine(ppocr: PpocrFiles | undefined, setup: Setup): RecognitionEngine {
  const { threads = Math.min(physicalCores(), USUAL_PROCESSES) } = setup.config;
  const { tesseractLibrary: tesseract } = setup.native;
  return new RecognitionEngine({
    engine: { ...(tesseract !== undefined && { tesseract }), ...(ppocr && { ppocr }) },
    model: { id: "tesseract", created: SYSTEM_ENGINE.created },
    ...whileUsed(setup),
    needBytes: Object.values(ppocr ?? {}).reduce((sum, path: string) => sum + bytesOf(path), LEAST_BYTES),
    processes: Math.min(threads, MOST_PROCESSES),
  });
}

type LanguageConfig = Pick<Config, "ocrEngine" | "ocrLanguages" | "ocrData" | "modelsDir">;
type EmbeddedData = Pick<NativeFiles, "embeddedTessdata">;

/** Returns the configured languages. Throws ExitError when there is no data for one of them. */
export function textLanguages(
  config: LanguageConfig,
  native: EmbeddedData,
  environment: Environment = processEnvironment(),
): TextLanguages {
  const { ocrEngine, ocrLanguages: usual } = config;
  const tessdata = recognitionData(config, native, environment);
  try {
    return new TextLanguages({ tessdata, ppocr: ocrEngine === "ppocr", usual });
  } catch (error) {
    throw error instanceof SvcError
      ? new ExitError("usage", error.message.replace("'languages'", "--ocr-language"))
      : error;
  }
}

/** Lists the sources of data by precedence: configured, downloaded, embedded, then the system's. */
function recognitionData(
  { ocrData, modelsDir }: LanguageConfig,
  { embeddedTessdata }: EmbeddedData,
  { TESSDATA_PREFIX: hostData }: Environment,
): Tessdata {
  const own = [...(ocrData === undefined ? [] : [ocrData]), join(modelsDir, "tessdata")];
  return new Tessdata([
    ...own,
    ...(embeddedTessdata === undefined ? [] : [{ file: embeddedTessdata }]),
    ...(hostData ? [hostData] : []),
    ...SYSTEM_FOLDERS,
  ]);
}
