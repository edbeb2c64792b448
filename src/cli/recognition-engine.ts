// The engine that reads text in pictures, and where its data for languages lies.

import { join } from "node:path";
import type { NativeFiles } from "../../ffi/runtime/native-files.ts";
import type { Config } from "../config/config.ts";
import { physicalCores } from "../engine/process/memory.ts";
import type { Launch } from "../engine/process/supervisor-options.ts";
import type { PpocrFiles } from "../engine/recognition/protocol.ts";
import { RecognitionEngine } from "../engine/recognition/recognition-engine.ts";
import { SYSTEM_FOLDERS, Tessdata } from "../store/tessdata.ts";
import { SYSTEM_ENGINE } from "./engines.ts";

/** Where nobody said how many threads compute: more would keep the cores from everything else. */
const USUAL_PROCESSES = 2;
/** Each holds 150 to 250 MB, and 0.8 GB when it reads by PP-OCR. */
const MOST_PROCESSES = 4;

/** Loaded on first use. */
export function recognitionEngine(
  ppocr: PpocrFiles | undefined,
  config: Config,
  launch: Launch,
  { libraries }: NativeFiles,
): RecognitionEngine {
  return new RecognitionEngine({
    engine: { libraries, ...(ppocr && { ppocr }) },
    model: { id: "tesseract", created: SYSTEM_ENGINE.created },
    launch,
    idleMs: config.idleUnloadMs,
    processes: Math.min(config.threads ?? Math.min(physicalCores(), USUAL_PROCESSES), MOST_PROCESSES),
  });
}

/** Given data comes first, then what was downloaded, what is inside, and the system's. */
export function recognitionData({ ocrData, modelsDir }: Config, { embeddedTessdata }: NativeFiles): Tessdata {
  const own = [...(ocrData === undefined ? [] : [ocrData]), join(modelsDir, "tessdata")];
  return new Tessdata([
    ...own,
    ...(embeddedTessdata === undefined ? [] : [{ file: embeddedTessdata }]),
    ...SYSTEM_FOLDERS,
  ]);
}
