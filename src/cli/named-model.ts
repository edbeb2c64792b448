// What an option names that takes a model: a file, or a model that svc pull downloaded.

import { isAbsolute } from "node:path";
import type { Config } from "../config/config.ts";
import { nearest } from "../config/nearest.ts";
import { ModelFileError } from "../model/gguf.ts";
import type { ModelPart } from "../store/models/known-sets.ts";
import { filesOf, ModelStore, sourceOf } from "../store/models/model-store.ts";
import { isRepo } from "../store/models/reference.ts";
import { inFull } from "../store/models/short-names.ts";
import { commandNames } from "./commands.ts";
import { ExitError } from "./exit-codes.ts";

export interface NamedModel {
  /** The file to load; of a model in several files, the first. */
  readonly path: string;
  /** The projector that came with a downloaded model. */
  readonly mmproj?: string;
  /** Of a downloaded model that consists of parts: its name, and its other files. */
  readonly set?: {
    readonly name: string;
    readonly parts: readonly { readonly part: ModelPart; readonly path: string }[];
  };
}

/**
 * The files of the model that `name` says: an absolute path, or a name in the store. Throws ExitError when the store has
 * no such model, or only a part of it.
 */
export function namedModel(name: string, modelsDir: string): NamedModel {
  if (isAbsolute(name)) return { path: name };
  const store = new ModelStore(modelsDir);
  const found = store.find(name);
  if (!found) {
    // Of an address, the name is known when it was looked at.
    const isUrl = /^https?:\/\//i.test(name);
    const hint =
      isUrl || isRepo(inFull(name).replace(/:.*$/, ""))
        ? `svc pull ${name} downloads it${isUrl ? " and tells its name" : ""}`
        : "svc list shows what was pulled, svc pull owner/repository downloads more, svc --help shows the commands";
    const command = nearest(name, commandNames);
    const meant = command === undefined ? "" : ` Did you mean svc ${command}?`;
    throw new ExitError(
      "model",
      `There is no file ${name} and no model of this name in ${modelsDir}: ${hint}.${meant}`,
    );
  }
  if (!store.isReady(found)) {
    throw new ExitError("model", `${found.name} is not complete: svc pull ${sourceOf(found)} downloads the rest.`);
  }
  const [first] = found.files;
  const parts = found.files.flatMap(({ part, path }) => (part ? [{ part, path: store.path(path) }] : []));
  return {
    path: store.path(first?.path ?? ""),
    ...(found.projector && { mmproj: store.path(found.projector.path) }),
    ...(parts.length > 0 && { set: { name: found.name, parts } }),
  };
}

/** Models of one `kind`, as it reads in the error. Throws ModelFileError about two of one name. */
export function eachOnce<Model extends { readonly id: string }>(models: Model[], kind: string): Model[] {
  const twice = models.find(({ id }, at) => models.findIndex((other) => other.id === id) < at);
  if (!twice) return models;
  throw new ModelFileError(`Two ${kind} models are called ${twice.id}; clients could ask for one only.`);
}

/** All files that a server of this configuration computes with, also later ones. */
export function filesInUse(config: Config): string[] {
  const { model, draft, mmproj, embeddingModels, rerankModels, transcriptionModels, lora, modelsDir } = config;
  const { imageModels, imageVae, imageTaesd, imageTextEncoders, imageLora, imageUpscaleModels } = config;
  const store = new ModelStore(modelsDir);
  const images = [imageModels, imageTextEncoders, imageUpscaleModels];
  const lists = [embeddingModels, rerankModels, transcriptionModels, ...images];
  const named = [model, draft, mmproj, imageVae, imageTaesd, ...lists.flat()].filter((name) => name !== undefined);
  const filesOfName = (name: string) => {
    const found = isAbsolute(name) ? undefined : store.find(name);
    return found ? filesOf(found).map(({ path }) => store.path(path)) : [name];
  };
  // They are served without being named.
  const sets = ["kokoro", "ppocr"].map((name) => store.get(name)).filter((set) => set !== undefined);
  const unnamed = sets.flatMap(filesOf).map(({ path }) => store.path(path));
  return [...named.flatMap(filesOfName), ...[...lora, ...imageLora].map(({ path }) => path), ...unnamed];
}
