// Engine status as the operations routes show it.

import type { Health } from "../contract/health.ts";
import type { ModelList } from "../contract/model.ts";
import type { EmbeddingKind, EmbeddingModel } from "../domain/embedding.ts";
import type { ModelInfo } from "../domain/model.ts";

/** What a chat model can do here, whatever it is; clients decide by it. */
const ALWAYS = ["chat", "completion", "streaming", "logprobs", "penalties", "structured_output", "grammar"];

/** What depends on the model's template and projector. */
const capabilitiesOf = ({ template, vision, audio }: ModelInfo): string[] => [
  ...ALWAYS,
  ...(template.tools ? ["tools"] : []),
  ...(template.thinking ? ["reasoning"] : []),
  ...(vision ? ["vision"] : []),
  ...(audio ? ["audio"] : []),
];

/** The part of an engine's status that these answers are made of. */
export interface EngineView {
  readonly state: Health["engine"]["state"];
  readonly modelId: string;
  readonly modelCreated: number;
  readonly model?: ModelInfo;
  readonly progress?: number;
  readonly lastError?: string;
  readonly restarts: number;
}

/** The same of an embedding engine. */
export interface EmbeddingView {
  readonly modelId: string;
  readonly kind: EmbeddingKind;
  readonly created: number;
  readonly state: string;
  readonly maxTokens: number;
  /** All of it is told. */
  readonly model?: EmbeddingModel;
}

/** GET /v1/models: the one active model, loaded or not yet, then those for embeddings. */
export function encodeModels(engine: EngineView, embeddings: readonly EmbeddingView[] = []): ModelList {
  const { state, modelId, modelCreated, model } = engine;
  const loaded = state === "ready";
  const entry = {
    id: modelId,
    object: "model" as const,
    created: modelCreated,
    owned_by: "svc",
    loaded,
    status: { value: loaded ? ("loaded" as const) : ("unloaded" as const) },
    ...(model && contextKeys(model.maxModelLen)),
  };
  const details = model && {
    architecture: model.architecture,
    description: model.description,
    parameters: model.parameters,
    bytes: model.bytes,
    trained_context: model.trainedContext,
    device: model.device,
  };
  return {
    object: "list",
    data: [entry, ...embeddings.map(embeddingEntry)],
    models: [
      { name: modelId, model: modelId, capabilities: model ? capabilitiesOf(model) : ALWAYS, ...details },
      ...embeddings.map(embeddingDetails),
    ],
  };
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
  const status = state === "ready" ? "healthy" : state === "starting" || state === "loading" ? "loading" : "degraded";
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
