// Engine status as the operations routes show it.

import type { Health } from "../contract/health.ts";
import type { ModelList } from "../contract/model.ts";
import type { OfferedAdapter } from "../domain/adapters.ts";
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
  readonly adapters: readonly OfferedAdapter[];
  readonly progress?: number;
  readonly lastError?: string;
  readonly restarts: number;
}

/** GET /v1/models: the one active model, loaded or not yet, and each adapter as a model of its own. */
export function encodeModels({ state, modelId, modelCreated, model, adapters }: EngineView): ModelList {
  const loaded = state === "ready";
  const length = model?.maxModelLen;
  const context = length && {
    max_context_length: length,
    max_model_len: length,
    context_length: length,
    context_window: length,
    n_ctx: length,
  };
  const entry = {
    id: modelId,
    object: "model" as const,
    created: modelCreated,
    owned_by: "svc",
    loaded,
    status: { value: loaded ? ("loaded" as const) : ("unloaded" as const) },
    ...context,
  };
  const details = model && {
    architecture: model.architecture,
    description: model.description,
    parameters: model.parameters,
    bytes: model.bytes,
    trained_context: model.trainedContext,
    device: model.device,
  };
  const lineage = { root: modelId, parent: modelId };
  const adapted = adapters.map(({ name, created }) => ({ ...entry, id: name, created, ...lineage }));
  const capabilities = model ? capabilitiesOf(model) : ALWAYS;
  const data = [entry, ...adapted];
  const models = data.map(({ id }) => ({ name: id, model: id, capabilities, ...details }));
  return { object: "list", data, models };
}

/** GET /lora-adapters, in llama.cpp's form. */
export const encodeLoraAdapters = ({ adapters }: Pick<EngineView, "adapters">) =>
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
