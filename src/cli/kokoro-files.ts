// Where Kokoro is: in a folder that the operator names, or in the store.

import { existsSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Config } from "../config/config.ts";
import { ModelStore } from "../store/models/model-store.ts";
import { ExitError } from "./exit-codes.ts";

export interface FoundKokoro {
  readonly model: string;
  /** Folder with a file for each voice. */
  readonly voices: string;
}

/** Undefined where there is none. Throws ExitError about a folder that was named and has none. */
export function findKokoro({ kokoro, modelsDir }: Pick<Config, "kokoro" | "modelsDir">): FoundKokoro | undefined {
  if (kokoro !== undefined) return inFolder(kokoro);
  const store = new ModelStore(modelsDir);
  const pulled = store.get("kokoro");
  if (!pulled || !store.isReady(pulled)) return undefined;
  const [model, voice] = pulled.files;
  return { model: store.path(model?.path ?? ""), voices: dirname(store.path(voice?.path ?? "")) };
}

/** As the hub's repositories have it, or all in one place. */
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
