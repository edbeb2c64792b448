// Finds the files of Kokoro and PP-OCR: in the store, or, for Kokoro, in the folder of --kokoro.

import { existsSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Config } from "../config/config.ts";
import type { PpocrFiles } from "../engine/recognition/protocol.ts";
import { ModelStore } from "../store/models/model-store.ts";
import { ExitError } from "./exit-codes.ts";

export interface FoundKokoro {
  readonly model: string;
  /** Folder with one file per voice. */
  readonly voices: string;
}

/** Returns undefined when Kokoro is not installed. Throws ExitError when the folder of --kokoro does not contain it. */
export function findKokoro({ kokoro, modelsDir }: Pick<Config, "kokoro" | "modelsDir">): FoundKokoro | undefined {
  if (kokoro !== undefined) return inFolder(kokoro);
  const pulled = pulledFiles("kokoro", modelsDir);
  if (!pulled) return undefined;
  const [model = "", voice = ""] = pulled;
  return { model, voices: dirname(voice) };
}

/** Finds Kokoro in a folder laid out like its Hugging Face repositories, or with the model beside the voices. */
function inFolder(folder: string): FoundKokoro {
  const models = [folder, join(folder, "onnx")].flatMap((place) => {
    const names = existsSync(place) ? readdirSync(place) : [];
    return names.filter((name) => name.endsWith(".onnx")).map((name) => join(place, name));
  });
  const voices = join(folder, "voices");
  const [model, other] = models;
  if (model !== undefined && other === undefined && existsSync(voices)) return { model, voices };
  const what = model === undefined ? "no ONNX file" : other === undefined ? "no folder voices" : "several ONNX files";
  throw new ExitError("model", `The folder ${folder} of --kokoro has ${what}.`);
}

/** Returns undefined unless PP-OCR is selected. Throws ExitError when it is selected but was not pulled. */
export function findPpocr({ ocrEngine, modelsDir }: Pick<Config, "ocrEngine" | "modelsDir">): PpocrFiles | undefined {
  if (ocrEngine !== "ppocr") return undefined;
  const pulled = pulledFiles("ppocr", modelsDir);
  if (!pulled) {
    throw new ExitError(
      "model",
      `--ocr-engine ppocr needs PP-OCRv5, which is not in ${modelsDir}: svc pull ppocr downloads it.`,
    );
  }
  const [finder = "", director = "", reader = "", characters = ""] = pulled;
  return { finder, director, reader, characters };
}

/** Returns the paths of the files that `svc pull` stored under this name, in its order; undefined when it did not. */
function pulledFiles(name: string, modelsDir: string): string[] | undefined {
  const store = new ModelStore(modelsDir);
  const pulled = store.get(name);
  return pulled && store.isReady(pulled) ? pulled.files.map(({ path }) => store.path(path)) : undefined;
}
