// Creates the image engines that a Config asks for. None is started here.

import { bytesOf, type NativeFiles } from "../../ffi/runtime/native-files.ts";
import type { Config } from "../config/config.ts";
import { ImageEngine } from "../engine/image/image-engine.ts";
import type { PainterOptions } from "../engine/image/protocol.ts";
import { readDrawingFile, readImageFile } from "../model/image-file.ts";
import type { ServedFile } from "../model/read-model.ts";
import { SYSTEM_ENGINE, whileUsed, type Setup } from "./engines.ts";
import type { ModelPart } from "../store/models/known-sets.ts";
import { eachOnce, namedModel, readEach, type NamedModel } from "./named-model.ts";
import { computeOptions } from "./prepare-model.ts";

/** The checked files of an image model. */
interface ImageFiles {
  /** The name by which clients select the model. */
  readonly id: string;
  readonly model: ServedFile;
  readonly vae?: ServedFile;
  readonly taesd?: ServedFile;
  readonly textEncoders: readonly ServedFile[];
  readonly adapters: readonly (ServedFile & { readonly name: string })[];
}

const DEMO_SIZE = { width: 128, height: 128 } as const;
/** The name of the model inside this program. */
export const DEMO_MODEL = "svc-draw";
/** Bytes that svc-draw takes while it draws: much more than its files have. */
const DEMO_BYTES = 150e6;
/** Milliseconds that the engine may be silent: on a slow machine, one graph node may take that long. */
const QUIET_MS = 60_000;

/** Reads the configured image models. Throws as `readEach` does. */
export function readImageFiles(config: Config): ImageFiles[] {
  const { imageModels, imageVae, imageTaesd, imageTextEncoders, imageLora, modelsDir } = config;
  const pathOf = (name: string) => namedModel(name, modelsDir).path;
  const given = {
    ...(imageVae !== undefined && { vae: pathOf(imageVae) }),
    ...(imageTaesd !== undefined && { taesd: pathOf(imageTaesd) }),
    textEncoders: imageTextEncoders.map(pathOf),
  };
  const adapters = imageLora.map(({ name, path }) => ({ ...readImageFile(path), name }));
  const models = imageModels.map((name) => {
    const { path, set } = namedModel(name, modelsDir);
    const { vae, taesd, textEncoders } = set ? partsIn(set.parts) : given;
    const model = readDrawingFile(path);
    return {
      id: set?.name ?? model.id,
      model,
      ...(vae !== undefined && { vae: readImageFile(vae) }),
      ...(taesd !== undefined && { taesd: readImageFile(taesd) }),
      textEncoders: textEncoders.map((encoder) => readImageFile(encoder)),
      adapters,
    };
  });
  return eachOnce(models, "image");
}

/** Reads the upscaling models. Throws as `readImageFiles` does. */
export function readUpscaleFiles({ imageUpscaleModels, modelsDir }: Config): ServedFile[] {
  return readEach(imageUpscaleModels, modelsDir, "image", readDrawingFile);
}

interface PartPaths {
  readonly vae?: string;
  readonly taesd?: string;
  readonly textEncoders: readonly string[];
}

/** Returns the parts that svc pull downloaded with a model: no other parts fit it. */
function partsIn(parts: NonNullable<NamedModel["set"]>["parts"]): PartPaths {
  const of = (wanted: ModelPart) => parts.filter(({ part }) => part === wanted).map(({ path }) => path);
  const [vae] = of("vae");
  const [taesd] = of("taesd");
  return { ...(vae && { vae }), ...(taesd && { taesd }), textEncoders: of("text-encoder") };
}

/** Creates one engine per model, or one for the embedded model, loaded on first use. Empty without the library. */
export function imageEngines(models: readonly ImageFiles[], setup: Setup): ImageEngine[] {
  const engine = engineWith(models.length, setup);
  if (!engine) return [];
  if (models.length === 0) return [engine(DEMO_MODEL, SYSTEM_ENGINE.created, demoParts(setup.native))];
  return models.map((files) => engine(files.id, files.model.modified, partsOf(files)));
}

/** Creates one engine per upscaling model, loaded on first use. */
export function upscaleEngines(models: readonly ServedFile[], setup: Setup): ImageEngine[] {
  const engine = engineWith(models.length, setup);
  if (!engine) return [];
  return models.map(({ id, modified, path: modelPath, bytes }) =>
    engine(id, modified, { modelPath, textEncoders: [], adapters: [], bytes, upscales: true }),
  );
}

/** Returns a function that creates an engine, or undefined (logged if `count` > 0) when the library is not built. */
function engineWith(count: number, setup: Setup) {
  const { config, launch, native } = setup;
  const { imageLibrary } = native;
  if (imageLibrary === undefined) {
    if (count > 0) launch.log.warn("no image model is offered: the image library is not built");
    return undefined;
  }
  return (id: string, created: number, parts: Parts) =>
    new ImageEngine({
      engine: { ...computeOptions(config, native), imageLibrary, name: id, ...parts },
      model: { id, created },
      quietMs: QUIET_MS,
      ...(parts.demo && { needBytes: DEMO_BYTES }),
      files: parts.demo ? [] : [parts.modelPath],
      ...whileUsed(setup, imageLibrary),
    });
}

type Parts = Omit<PainterOptions, "name" | "imageLibrary" | keyof ReturnType<typeof computeOptions>>;

function demoParts({ embeddedImages }: NativeFiles): Parts {
  const { model, textEncoder, taesd } = embeddedImages;
  return {
    modelPath: model,
    textEncoders: [textEncoder],
    taesdPath: taesd,
    adapters: [],
    bytes: [model, textEncoder, taesd].reduce((sum, path) => sum + bytesOf(path), 0),
    demo: DEMO_SIZE,
  };
}

function partsOf({ model, vae, taesd, textEncoders, adapters }: ImageFiles): Parts {
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
