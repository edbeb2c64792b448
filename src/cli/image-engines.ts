// The engines that draw images which a Config asks for. None is started here.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileName } from "../../ffi/runtime/library.ts";
import type { NativeFiles } from "../../ffi/runtime/native-files.ts";
import type { Config } from "../config/config.ts";
import { availableMemory } from "../config/memory.ts";
import { ImageEngine } from "../engine/image/image-engine.ts";
import type { PainterOptions } from "../engine/image/protocol.ts";
import type { Launch } from "../engine/process/supervisor-options.ts";
import { ModelFileError } from "../model/gguf.ts";
import { readImageFile, type ImageFile } from "../model/image-file.ts";
import { computeOptions, reading, SYSTEM_ENGINE } from "./engines.ts";
import { namedModel } from "./named-model.ts";

/** The files that a Config names, checked. */
export interface ImageFiles {
  readonly models: readonly ImageFile[];
  /** Of all these models. */
  readonly vae?: ImageFile;
  readonly taesd?: ImageFile;
  readonly textEncoders: readonly ImageFile[];
  readonly adapters: readonly (ImageFile & { readonly name: string })[];
}

const DEMO_SIZE = { width: 128, height: 128 } as const;
/** One node of a graph may take so long on a slow machine, and nothing is heard of it meanwhile. */
const QUIET_MS = 60_000;

/** Throws ExitError about a file that cannot be used, or two models of one name. */
export function readImageFiles(config: Config): ImageFiles {
  const { imageModels, imageVae, imageTaesd, imageTextEncoders, imageLora, modelsDir } = config;
  const fileOf = (name: string) => readImageFile(namedModel(name, modelsDir).path);
  return reading(() => {
    const models = imageModels.map(fileOf);
    const twice = models.find(({ id }, at) => models.findIndex((other) => other.id === id) < at);
    if (twice) throw new ModelFileError(`Two image models are called ${twice.id}; clients could ask for one only.`);
    return {
      models,
      ...(imageVae !== undefined && { vae: fileOf(imageVae) }),
      ...(imageTaesd !== undefined && { taesd: fileOf(imageTaesd) }),
      textEncoders: imageTextEncoders.map(fileOf),
      adapters: imageLora.map(({ name, path }) => ({ ...readImageFile(path), name })),
    };
  });
}

/** One engine a model, loaded on first use; without one the embedded model draws. None where the build left the library out. */
export function imageEngines(files: ImageFiles, config: Config, launch: Launch, native: NativeFiles): ImageEngine[] {
  if (!existsSync(join(native.libraries, fileName("image")))) {
    if (files.models.length > 0) launch.log.warn("no image model is offered: the image library is not built");
    return [];
  }
  const engine = (id: string, created: number, parts: Parts) =>
    new ImageEngine({
      engine: { ...computeOptions(config, native), name: id, ...parts },
      model: { id, created },
      launch,
      idleMs: config.idleUnloadMs,
      quietMs: QUIET_MS,
      availableBytes: () => availableMemory(),
    });
  if (files.models.length === 0) return [engine("svc-draw", SYSTEM_ENGINE.created, demoParts(native))];
  return files.models.map((model) => engine(model.id, model.modified, partsOf(model, files)));
}

type Parts = Omit<PainterOptions, "name" | keyof ReturnType<typeof computeOptions>>;

function demoParts({ embeddedImages }: NativeFiles): Parts {
  const { model, textEncoder, taesd } = embeddedImages;
  return {
    modelPath: model,
    textEncoders: [textEncoder],
    taesdPath: taesd,
    adapters: [],
    bytes: [model, textEncoder, taesd].reduce((sum, path) => sum + readImageFile(path).bytes, 0),
    demo: DEMO_SIZE,
  };
}

function partsOf(model: ImageFile, { vae, taesd, textEncoders, adapters }: ImageFiles): Parts {
  const all = [model, ...textEncoders, ...(vae ? [vae] : []), ...(taesd ? [taesd] : [])];
  return {
    modelPath: model.path,
    ...(vae && { vaePath: vae.path }),
    ...(taesd && { taesdPath: taesd.path }),
    textEncoders: textEncoders.map(({ path }) => path),
    adapters: adapters.map(({ name, path }) => ({ name, path })),
    bytes: all.reduce((sum, { bytes }) => sum + bytes, 0),
  };
}
