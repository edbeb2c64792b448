// Encodes the available models in the form of Ollama's API.

import type { Sampling } from "../../domain/generate.ts";
import { LLAMA_SAMPLING } from "../../domain/llama-sampling.ts";
import type { ListedModel } from "../../domain/model.ts";

const iso = (unixSeconds: number): string => new Date(unixSeconds * 1000).toISOString();

/** Ollama's names for capabilities of models. */
const CAPABILITIES: Readonly<Record<string, string>> = {
  completion: "completion",
  chat: "completion",
  tools: "tools",
  reasoning: "thinking",
  vision: "vision",
  embeddings: "embedding",
};

const capabilitiesOf = ({ capabilities }: ListedModel): string[] => [
  ...new Set(capabilities.map((one) => CAPABILITIES[one]).filter((one) => one !== undefined)),
];

/** The quantization at the end of a language model's description, such as Q8_0 or "Q4_K - Medium". */
const QUANTIZATION = /\b([IT]?Q\d\w*|MXFP4|BF16|F16|F32)\b(?: - ([SML])\w+)?/;

function details({ parent, file = {} }: ListedModel) {
  const { architecture = "", description, parameters } = file;
  const millions = (parameters ?? 0) / 1e6;
  return {
    parent_model: parent ?? "",
    format: "gguf",
    family: architecture,
    families: architecture === "" ? [] : [architecture],
    parameter_size:
      parameters === undefined ? "" : millions >= 1e3 ? `${(millions / 1e3).toFixed(1)}B` : `${millions.toFixed(1)}M`,
    quantization_level:
      QUANTIZATION.exec(description ?? "")
        ?.slice(1)
        .join("_")
        .replace(/_$/, "") ?? "",
  };
}

/** Returns a hash of a text in hexadecimal digits. */
type Hash = (text: string) => string;

const entry = (model: ListedModel, hash: Hash) => ({
  name: model.id,
  model: model.id,
  modified_at: iso(model.created),
  size: model.file?.bytes ?? 0,
  // Distinguishes models. Clients show its first twelve digits, and some crash without them.
  digest: hash(JSON.stringify([model.id, model.created, model.file?.bytes])),
  details: details(model),
});

/** Encodes GET /api/tags: the models that clients of Ollama's API can use. */
export const encodeTags = (models: readonly ListedModel[], hash: Hash) => ({
  models: models.filter((model) => capabilitiesOf(model).length > 0).map((model) => entry(model, hash)),
});

/** Encodes GET /api/ps: the models that are loaded here, without a known expiry. */
export const encodeRunning = (models: readonly ListedModel[], hash: Hash) => ({
  models: models
    .filter((model) => model.loaded && !model.remote && capabilitiesOf(model).length > 0)
    .map((model) => ({
      ...entry(model, hash),
      expires_at: "9999-12-31T00:00:00Z",
      size_vram: 0,
      ...(model.contextLength !== undefined && { context_length: model.contextLength }),
    })),
});

/** Settings that are also options in Ollama's API. */
const PARAMETERS = [
  "temperature",
  "topK",
  "topP",
  "minP",
  "typicalP",
  "repetitionPenalty",
  "repetitionWindow",
  "presencePenalty",
  "mirostat",
  "mirostatTau",
  "mirostatEta",
  "seed",
] as const satisfies readonly (keyof Sampling)[];
const NAMES = { ...LLAMA_SAMPLING, seed: "seed" };

/** Returns the settings that apply when a request has none, one per line. */
function parametersOf({ contextLength, file = {} }: ListedModel): string {
  const defaults: Sampling = file.defaults ?? file.sampling ?? {};
  const named = PARAMETERS.map((name) => [NAMES[name], defaults[name]] as const);
  const known = [["num_ctx", contextLength] as const, ...named].filter(([, value]) => value !== undefined);
  return known.map(([name, value]) => `${name.padEnd(30)} ${String(value)}`).join("\n");
}

/** Encodes POST /api/show. */
export function encodeShow(model: ListedModel) {
  const { architecture = "unknown", parameters, dimensions, chatTemplate } = model.file ?? {};
  return {
    license: "",
    modelfile: "",
    parameters: parametersOf(model),
    template: chatTemplate?.source ?? "",
    modified_at: iso(model.created),
    details: details(model),
    model_info: {
      "general.architecture": architecture,
      ...(parameters !== undefined && { "general.parameter_count": parameters }),
      ...(model.contextLength !== undefined && { [`${architecture}.context_length`]: model.contextLength }),
      ...(dimensions !== undefined && { [`${architecture}.embedding_length`]: dimensions }),
    },
    capabilities: capabilitiesOf(model),
  };
}
