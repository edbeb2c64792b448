// What the server reports about itself: its models, its LoRA adapters, its health.

import type { Health } from "../contract/health.ts";
import type { ModelList } from "../contract/model.ts";
import type { OfferedAdapter } from "../domain/adapters.ts";
import type { ListedModel } from "../domain/model.ts";

/** The part of an engine's status that these answers are made of. */
export interface EngineView {
  readonly state: Health["engine"]["state"];
  readonly modelId: string;
  readonly progress?: number;
  readonly lastError?: string;
  readonly restarts: number;
}

/** GET /v1/models: the models in their order, and in the same order what each can do. */
export const encodeModels = (models: readonly ListedModel[]): ModelList => ({
  object: "list",
  data: models.map(encodeEntry),
  models: models.map(encodeDetails),
});

function encodeEntry({ id, created, ownedBy, loaded, contextLength, parent }: ListedModel): ModelList["data"][number] {
  return {
    id,
    object: "model",
    created,
    owned_by: ownedBy,
    ...(parent !== undefined && { root: parent, parent }),
    loaded,
    status: { value: loaded ? "loaded" : "unloaded" },
    ...(contextLength !== undefined && {
      max_context_length: contextLength,
      max_model_len: contextLength,
      context_length: contextLength,
      context_window: contextLength,
      n_ctx: contextLength,
    }),
  };
}

function encodeDetails({ id, capabilities, file }: ListedModel): ModelList["models"][number] {
  const { architecture, description, parameters, bytes, trainedContext, dimensions, device } = file ?? {};
  return {
    name: id,
    model: id,
    capabilities: [...capabilities],
    ...(architecture !== undefined && { architecture }),
    ...(description !== undefined && { description }),
    ...(parameters !== undefined && { parameters }),
    ...(bytes !== undefined && { bytes }),
    ...(trainedContext !== undefined && { trained_context: trainedContext }),
    ...(dimensions !== undefined && { dimensions }),
    ...(device !== undefined && { device }),
  };
}

/** GET /lora-adapters, in llama.cpp's form. */
export const encodeLoraAdapters = (adapters: readonly OfferedAdapter[]) =>
  adapters.map(({ path, scale, taskName, promptPrefix }, id) => ({
    id,
    path: path.split("/").at(-1) ?? "",
    scale,
    task_name: taskName,
    prompt_prefix: promptPrefix,
  }));

/** GET /health. `healthy` means that a request would be computed now. */
export function encodeHealth(engine: EngineView, version: string, wallMs: number): Health {
  const { state, restarts, progress, lastError, modelId } = engine;
  const status =
    state === "ready" || state === "none"
      ? "healthy"
      : state === "starting" || state === "loading"
        ? "loading"
        : "degraded";
  return {
    status,
    timestamp: wallMs / 1000,
    version,
    engine: {
      state,
      restarts,
      ...(progress !== undefined && { progress: Math.round(progress * 1000) / 1000 }),
      ...(lastError !== undefined && { last_error: lastError }),
    },
    model: modelId,
  };
}
