// The engines for vectors and scores that a Config asks for, one a model file; each starts when it is first needed.

import type { NativeFiles } from "../../ffi/runtime/libraries.ts";
import type { Config } from "../config/config.ts";
import { physicalCores } from "../config/memory.ts";
import type { Clock } from "../domain/clock.ts";
import { EmbeddingHost } from "../engine/embedding/host.ts";
import { ModelFileError } from "../model/gguf.ts";
import { readEmbeddingFile, type EmbeddingFile } from "../model/model-file.ts";
import type { Logger } from "../telemetry/log.ts";
import { ExitError } from "./exit-codes.ts";
import { namedModel } from "./named-model.ts";

export interface EmbeddingLaunch {
  readonly native: NativeFiles;
  /** Program and arguments of the engine process. */
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly log: Logger;
  readonly clock: Clock;
}

/** Checks the files that are given. Throws ExitError about one that cannot be used, or two of one name. */
export function readEmbeddingFiles({ embeddingModels, rerankModels, modelsDir }: Config): EmbeddingFile[] {
  try {
    const files = [
      ...embeddingModels.map((name) => readEmbeddingFile(namedModel(name, modelsDir).path, false)),
      ...rerankModels.map((name) => readEmbeddingFile(namedModel(name, modelsDir).path, true)),
    ];
    const twice = files.find(({ id }, at) => files.findIndex((other) => other.id === id) < at);
    if (twice) throw new ModelFileError(`Two embedding models are called ${twice.id}; clients could ask for one only.`);
    return files;
  } catch (error) {
    throw error instanceof ModelFileError ? new ExitError("model", error.message) : error;
  }
}

/** One engine a file, none of them started; without a file for vectors the embedded model has one. */
export function embeddingEngines(
  given: readonly EmbeddingFile[],
  config: Config,
  { native, command, env, log, clock }: EmbeddingLaunch,
): EmbeddingHost[] {
  const { gpuLayers, flashAttention, mmap, mlock, warmup, loadTimeoutMs } = config;
  const threads = config.threads ?? physicalCores();
  const isMissing = given.every(({ ranks }) => ranks) && native.embeddedEmbeddings !== undefined;
  const files = isMissing ? [readEmbeddingFile(native.embeddedEmbeddings ?? "", false), ...given] : given;
  return files.map((file) => {
    const engine = {
      libraries: native.libraries,
      modelPath: file.path,
      kind: file.ranks ? ("rank" as const) : ("embed" as const),
      maxTokens: Math.min(file.trainedContext, config.embeddingCtx),
      threads,
      gpuLayers,
      flashAttention,
      mmap,
      mlock,
      warmup,
    };
    const model = { id: file.id, created: file.modified, dimensions: file.ranks ? 1 : file.embedding };
    return new EmbeddingHost({ engine, model, command, env, loadTimeoutMs, log, clock });
  });
}
