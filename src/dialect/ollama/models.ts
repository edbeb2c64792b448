// The loaded model and its adapters as Ollama's API describes models.

import type { OfferedAdapter } from "../../domain/adapters.ts";
import type { ModelInfo } from "../../domain/model.ts";

const iso = (unixSeconds: number): string => new Date(unixSeconds * 1000).toISOString();

function details({ architecture, description, parameters }: ModelInfo) {
  return {
    parent_model: "",
    format: "gguf",
    family: architecture,
    families: [architecture],
    parameter_size: parameters >= 1e9 ? `${(parameters / 1e9).toFixed(1)}B` : `${(parameters / 1e6).toFixed(1)}M`,
    quantization_level: description.split(" ").at(-1) ?? "",
  };
}

const entry = (model: ModelInfo) => ({
  name: model.id,
  model: model.id,
  modified_at: iso(model.created),
  size: model.bytes,
  digest: "",
  details: details(model),
});

interface Served {
  readonly model?: ModelInfo;
  readonly adapters: readonly OfferedAdapter[];
}

/** GET /api/tags. */
export function encodeTags({ model, adapters }: Served) {
  if (!model) return { models: [] };
  const adapted = adapters.map(({ name, created }) => {
    const own = entry({ ...model, id: name, created });
    return { ...own, details: { ...own.details, parent_model: model.id } };
  });
  return { models: [entry(model), ...adapted] };
}

/** GET /api/ps. A loaded model stays. */
export const encodeRunning = (model: ModelInfo | undefined) => ({
  models: model
    ? [{ ...entry(model), expires_at: "9999-12-31T00:00:00Z", size_vram: 0, context_length: model.maxModelLen }]
    : [],
});

/** POST /api/show. */
export function encodeShow(model: ModelInfo) {
  const { architecture, parameters, maxModelLen, template, vision } = model;
  return {
    license: "",
    modelfile: "",
    parameters: "",
    template: "",
    modified_at: iso(model.created),
    details: details(model),
    model_info: {
      "general.architecture": architecture,
      "general.parameter_count": parameters,
      [`${architecture}.context_length`]: maxModelLen,
    },
    capabilities: [
      "completion",
      ...(template.tools ? ["tools"] : []),
      ...(template.thinking ? ["thinking"] : []),
      ...(vision ? ["vision"] : []),
    ],
  };
}
