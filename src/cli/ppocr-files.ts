// Where PP-OCR is: in the store.

import type { Config } from "../config/config.ts";
import type { PpocrFiles } from "../engine/recognition/protocol.ts";
import { ModelStore } from "../store/models/model-store.ts";
import { ExitError } from "./exit-codes.ts";

/** Undefined where it is not wanted. Throws ExitError where it is, and was not pulled. */
export function findPpocr({ ocrEngine, modelsDir }: Pick<Config, "ocrEngine" | "modelsDir">): PpocrFiles | undefined {
  if (ocrEngine !== "ppocr") return undefined;
  const store = new ModelStore(modelsDir);
  const pulled = store.get("ppocr");
  if (!pulled || !store.isReady(pulled)) {
    throw new ExitError(
      "model",
      `--ocr-engine ppocr needs PP-OCRv5, which is not in ${modelsDir}: svc pull ppocr downloads it.`,
    );
  }
  const [finder = "", director = "", reader = "", characters = ""] = pulled.files.map(({ path }) => store.path(path));
  return { finder, director, reader, characters };
}
