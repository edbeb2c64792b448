// Creates the engines that a Config asks for. None is started here.

import { bytesOf, nativeFiles, type NativeFiles } from "../../ffi/runtime/native-files.ts";
import type { Config } from "../config/config.ts";
import { engineEnvironment, processEnvironment } from "../config/environment.ts";
import { GpuMemory } from "../engine/process/gpu-memory.ts";
import { availableMemory } from "../engine/process/machine.ts";
import { MemoryBudget } from "../engine/process/memory-budget.ts";
import { systemClock } from "../domain/clock.ts";
import { errorMessage } from "../domain/error-message.ts";
import { EmbeddingEngine } from "../engine/embedding/embedding-engine.ts";
import type { Launch } from "../engine/process/supervisor-options.ts";
import { TextEngine } from "../engine/text/text-engine.ts";
import { TranscriptionEngine } from "../engine/transcription/transcription-engine.ts";
import { embeddingBytes } from "../model/embedding-memory.ts";
import { readEmbeddingFile, readModelFile, type EmbeddingFile, type ModelFile } from "../model/model-file.ts";
import { gpuClaim } from "../model/placement.ts";
import { readWhisperFile, type WhisperFile } from "../model/whisper-file.ts";
import { SYSTEM_MODEL } from "../service/system-model.ts";
import type { Logger } from "../telemetry/log.ts";
import { preparing } from "./components.ts";
import { contextWarning } from "./context-check.ts";
import { orExit } from "./exit-codes.ts";
import { engineCommand } from "./own-program.ts";
import { logPlacement, readGpus } from "./gpus.ts";
import { eachOnce, namedModel, readEach } from "./named-model.ts";
import { computeOptions, prepareModel, readTextFiles, type PreparedModel } from "./prepare-model.ts";
import { spreadLoading } from "./workers.ts";

/** `created`: creation time of svc-mini in Unix seconds, for listings made before the model is unpacked. */
export const SYSTEM_ENGINE = { parallel: 4, created: 1_767_225_600 } as const;

/** Properties of embedded models that are needed before unpacking; a test compares them with the files. */
export const ALL_MINILM = {
  id: "all-minilm-l6-v2",
  ranks: false,
  embedding: 384,
  trainedContext: 256,
  modified: SYSTEM_ENGINE.created,
} as const;
export const WHISPER_BASE = {
  id: "whisper-base",
  modified: SYSTEM_ENGINE.created,
  translates: true,
  stateBytes: 128_489_728,
} as const;

/** Settings of the system model that override the options, which are about the given models. */
const SYSTEM_CONFIG = {
  alias: [SYSTEM_MODEL],
  parallel: SYSTEM_ENGINE.parallel,
  ctx: 4096,
  kvMode: "unified",
  kvType: "f16",
  flashAttention: "auto",
  gpuLayers: 0,
  sampling: {},
} as const satisfies Partial<Config>;

/** Tokens for which there must be memory before a further chat model is loaded. */
const LEAST_CONTEXT = 4096;

/** `native`: returns the libraries, for whatever loads models; absent where none is loaded. */
export function launchWith(config: Config, log: Logger, native?: () => NativeFiles): Launch {
  const { loadTimeoutMs, engineTimeoutMs } = config;
  const launch: Launch = {
    command: engineCommand,
    env: engineEnvironment(processEnvironment()),
    loadTimeoutMs,
    engineTimeoutMs,
    log,
    clock: systemClock,
    memory: new MemoryBudget(availableMemory, new GpuMemory(native && (() => readGpus(config, native(), launch)))),
  };
  return launch;
}

/** What every engine is created with. */
export interface Setup {
  readonly config: Config;
  readonly launch: Launch;
  readonly native: NativeFiles;
}

/** Returns the options of an engine that unloads when idle. `path`: a file of the engine that svc-slim may lack. */
export const whileUsed = ({ config, launch }: Setup, path?: string) => ({
  launch,
  idleMs: config.idleUnloadMs,
  ...(path !== undefined && preparing(path, config, launch.log)),
});

/** Creates the engine of the model that is loaded from the start. */
export function servedEngine(prepared: PreparedModel, config: Config, launch: Launch): TextEngine {
  const { id, file, adapters, options, context, workers } = prepared;
  const needBytes = file.tensorBytes + context.context * context.tokenBytes;
  const onGpus = gpuClaim(file, needBytes, options.gpuLayers, launch.memory.gpus.list);
  const model = { id, ...known(file, options) };
  const stores = options.kvDir !== undefined;
  const loading = spreadLoading({ config, options, workers, needBytes, log: launch.log });
  const files = [...file.paths, ...options.adapterPaths, options.mmprojPath ?? [], options.draft?.path ?? []].flat();
  const placed = { ...loading, ...(onGpus && { onGpus }) };
  return new TextEngine({ model, adapters, ...placed, launch, start: "eager", idleMs: 0, stores, files });
}

/** Creates an engine for the small embedded model, which runs on the CPU, loads on first use and unloads when idle. */
export function systemEngine(setup: Setup): TextEngine {
  const { config, native } = setup;
  return new TextEngine({
    model: { id: SYSTEM_MODEL, created: SYSTEM_ENGINE.created, parallel: SYSTEM_ENGINE.parallel },
    adapters: [],
    load: () => prepareModel({ ...furtherConfig(config), ...SYSTEM_CONFIG }, () => native).options,
    ...whileUsed(setup),
    start: "lazy",
    needBytes: bytesOf(native.embeddedModel),
    stores: false,
  });
}

/** Reads the further chat models. Throws as `readEach` does. */
export const readChatFiles = ({ chatModels, modelsDir }: Config): ModelFile[] =>
  readEach(chatModels, modelsDir, "chat", readModelFile);

/** Creates one engine per file, loaded on first use. Throws as `prepareModel` does. */
export const chatEngines = (given: readonly ModelFile[], setup: Setup): TextEngine[] =>
  given.map((file, at) => chatEngine(file, setup.config.chatModels[at] ?? "", setup));

/** Creates the engine of a further chat model. `model`: its name for --model. Throws as `prepareModel` does. */
export function chatEngine(file: ModelFile, model: string, setup: Setup): TextEngine {
  const { config, launch, native } = setup;
  const { gpus } = launch.memory;
  // Prepared again for each load: the context depends on the memory that is free then.
  const prepare = (read?: ModelFile) => {
    const own = { ...furtherConfig(config), model };
    return prepareModel(own, () => native, { files: readTextFiles(own, read), gpus: gpus.list });
  };
  const { context, options } = prepare(file);
  const warning = contextWarning(context, config.ctx);
  if (warning !== undefined) launch.log.warn(warning, { model: file.id });
  const projectors = options.mmprojPath === undefined ? [] : [options.mmprojPath];
  const bytes = projectors.reduce((sum, path) => sum + bytesOf(path), file.tensorBytes);
  const needBytes = bytes + context.tokenBytes * Math.min(context.context, LEAST_CONTEXT);
  const onGpus = gpuClaim(file, needBytes, config.gpuLayers, gpus.list);
  return new TextEngine({
    model: { id: file.id, ...known(file, options) },
    adapters: [],
    load: () => {
      const prepared = prepare();
      logPlacement({ ...prepared, id: file.id }, launch.log);
      return prepared.options;
    },
    ...whileUsed(setup),
    start: "lazy",
    needBytes,
    ...(onGpus && { onGpus }),
    stores: false,
    files: [...file.paths, ...projectors],
  });
}

/** Returns what is known of a model before it is loaded. */
const known = (file: ModelFile, { parallel, mmprojPath }: PreparedModel["options"]) => ({
  name: file.name,
  created: file.modified,
  parallel,
  expected: { template: file.template, vision: mmprojPath !== undefined, audio: false },
});

/** Returns the configuration of a chat model other than that of --model, which some options are about. */
function furtherConfig(config: Config): Config {
  const { model: _model, mmproj: _mmproj, draft: _draft, traceFile: _traceFile, ...others } = config;
  const { kvDir: _kvDir, slotSavePath: _slotSavePath, ...further } = others;
  const split = { splitMode: "layer", mainGpu: 0, tensorSplit: [] } as const;
  return { ...further, ...split, alias: [], lora: [], workers: [], chatTemplate: "" };
}

/** Reads the given embedding and rerank models. Throws as `readEach` does. */
export function readEmbeddingFiles({ embeddingModels, rerankModels, modelsDir }: Config): EmbeddingFile[] {
  const files = [
    ...embeddingModels.map((name) => readEmbeddingFile(namedModel(name, modelsDir).path, false)),
    ...rerankModels.map((name) => readEmbeddingFile(namedModel(name, modelsDir).path, true)),
  ];
  return eachOnce(files, "embedding");
}

/** Creates one engine per file, loaded on first use; without an embedding file, one for the embedded model. */
export function embeddingEngines(given: readonly EmbeddingFile[], setup: Setup): EmbeddingEngine[] {
  const embedded = setup.native.embeddedEmbeddings;
  const isMissing = given.every(({ ranks }) => ranks) && embedded !== undefined;
  const own = isMissing ? [{ path: embedded, paths: [], needBytes: bytesOf(embedded), ...ALL_MINILM }] : [];
  return [...own, ...given].map((file) => embeddingEngine(file, setup));
}

type VectorFile = Pick<EmbeddingFile, "path" | "paths" | "id" | "modified" | "ranks" | "embedding" | "trainedContext">;

/** Creates the engine of a model for vectors or rankings. `needBytes`: the memory that it needs, where it is known. */
export function embeddingEngine(
  file: EmbeddingFile | (VectorFile & { readonly needBytes: number }),
  setup: Setup,
): EmbeddingEngine {
  const { config, native } = setup;
  const { path, paths, id, modified, ranks, embedding } = file;
  const maxTokens = Math.min(file.trainedContext, config.embeddingCtx);
  const kind = ranks ? ("rank" as const) : ("embed" as const);
  const engine = { ...computeOptions(config, native), modelPath: path, kind, maxTokens };
  const model = { id, created: modified, dimensions: ranks ? 1 : embedding };
  const needBytes = "needBytes" in file ? file.needBytes : embeddingBytes(file, maxTokens);
  return new EmbeddingEngine({ engine, model, needBytes, files: paths, ...whileUsed(setup, path) });
}

/** Reads the given transcription models. Throws as `readEach` does. */
export function readWhisperFiles({ transcriptionModels, modelsDir }: Config): WhisperFile[] {
  return readEach(transcriptionModels, modelsDir, "transcription", readWhisperFile);
}

/** Creates one engine per file, loaded on first use; without files, one for the embedded model. */
export function transcriptionEngines(given: readonly WhisperFile[], setup: Setup): TranscriptionEngine[] {
  const { config, native } = setup;
  const { embeddedTranscription, embeddedVad } = native;
  const isMissing = given.length === 0 && embeddedTranscription !== undefined;
  const files = isMissing
    ? [{ path: embeddedTranscription, bytes: bytesOf(embeddedTranscription), ...WHISPER_BASE }]
    : given;
  return files.map(({ path, id, bytes, modified, translates, stateBytes }) => {
    const compute = computeOptions(config, native);
    const engine = {
      ...compute,
      modelPath: path,
      ...(config.vad && embeddedVad !== undefined && { vadPath: embeddedVad }),
      parallel: recordingsAtOnce(compute.threads),
      stateBytes,
      maxSeconds: config.maxAudioMinutes * 60,
    };
    const model = { id, created: modified, translates };
    const watched = isMissing ? [] : [path];
    const needBytes = bytes + stateBytes;
    return new TranscriptionEngine({ engine, model, needBytes, files: watched, ...whileUsed(setup, path) });
  });
}

/** Recordings transcribed at once. Beyond 8, more threads per recording are as fast. */
const recordingsAtOnce = (threads: number): number => Math.min(threads, 8);

/** Returns the native libraries, unpacked if necessary. Throws ExitError when no folder can hold them. */
export function unpack({ cacheDir }: Config, log: Logger): NativeFiles {
  const native = orExit(() => nativeFiles(cacheDir), errorMessage);
  if (native.warning) log.warn(native.warning);
  return native;
}
