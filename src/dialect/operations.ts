// Engine status as the operations routes show it.

import type { Health } from "../contract/health.ts";
import type { ModelList } from "../contract/model.ts";
import type { EmbeddingKind, EmbeddingModel } from "../domain/embedding.ts";
import type { ListedModel } from "../domain/model.ts";

/** The part of an engine's status that these answers are made of. */
export interface EngineView {
  readonly state: Health["engine"]["state"];
  readonly modelId: string;
  readonly progress?: number;
  readonly lastError?: string;
  readonly restarts: number;
}

/** The part of an embedding engine that the list is made of. */
export interface EmbeddingView {
  readonly modelId: string;
  readonly kind: EmbeddingKind;
  readonly created: number;
  readonly state: string;
  readonly maxTokens: number;
  /** All of it is told. */
  readonly model?: EmbeddingModel;
}

/** GET /v1/models: the models in their order, then those for embeddings, and in the same order what each can do. */
export const encodeModels = (models: readonly ListedModel[], embeddings: readonly EmbeddingView[] = []): ModelList => ({
  object: "list",
  data: [...models.map(encodeEntry), ...embeddings.map(embeddingEntry)],
  models: [...models.map(encodeDetails), ...embeddings.map(embeddingDetails)],
});

function encodeEntry({ id, created, ownedBy, loaded, contextLength }: ListedModel): ModelList["data"][number] {
  return {
    id,
    object: "model",
    created,
    owned_by: ownedBy,
    loaded,
    status: { value: loaded ? "loaded" : "unloaded" },
    ...(contextLength !== undefined && contextKeys(contextLength)),
  };
}

function encodeDetails({ id, capabilities, file }: ListedModel): ModelList["models"][number] {
  const details = file && {
    architecture: file.architecture,
    description: file.description,
    parameters: file.parameters,
    bytes: file.bytes,
    trained_context: file.trainedContext,
    device: file.device,
  };
  return { name: id, model: id, capabilities: [...capabilities], ...details };
}

const contextKeys = (length: number) => ({
  max_context_length: length,
  max_model_len: length,
  context_length: length,
  context_window: length,
  n_ctx: length,
});

function embeddingEntry({ modelId, created, state, maxTokens }: EmbeddingView): ModelList["data"][number] {
  const loaded = state === "ready";
  const status = { value: loaded ? ("loaded" as const) : ("unloaded" as const) };
  return { id: modelId, object: "model", created, owned_by: "svc", loaded, status, ...contextKeys(maxTokens) };
}

function embeddingDetails({ modelId, kind, model }: EmbeddingView): ModelList["models"][number] {
  return { name: modelId, model: modelId, capabilities: [kind === "embed" ? "embeddings" : "rerank"], ...model };
}

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
