// What --model names: a file, or a model that svc pull downloaded.

import { isAbsolute } from "node:path";
import type { Config } from "../config/config.ts";
import { ModelStore, sourceOf } from "../store/models/model-store.ts";
import { isRepo } from "../store/models/reference.ts";
import { ExitError } from "./exit-codes.ts";

export interface ChosenModel {
  readonly path: string;
  readonly mmproj?: string;
}

/**
 * The files to load, or undefined when no model is named. A downloaded model brings its projector, unless --mmproj names
 * another. Throws ExitError when the store has no such model, or only a part of it.
 */
export function chosenModel({ model, mmproj, modelsDir }: Config): ChosenModel | undefined {
  const named = mmproj === undefined ? {} : { mmproj };
  if (model === undefined) return undefined;
  if (isAbsolute(model)) return { path: model, ...named };
  const store = new ModelStore(modelsDir);
  const found = store.find(model);
  if (!found) {
    const isHub = isRepo(model.replace(/:.*$/, ""));
    const hint = isHub
      ? `svc pull ${model} downloads it`
      : "svc list shows what was pulled, svc pull owner/repository downloads more";
    throw new ExitError("model", `There is no file ${model} and no model of this name in ${modelsDir}: ${hint}.`);
  }
  if (!store.isReady(found)) {
    throw new ExitError("model", `${found.name} is not complete: svc pull ${sourceOf(found)} downloads the rest.`);
  }
  const projector = found.projector && { mmproj: store.path(found.projector.path) };
  return { path: store.path(found.files[0]?.path ?? ""), ...projector, ...named };
}
