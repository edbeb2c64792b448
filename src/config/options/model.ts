// What is served.

import { parseAdapters } from "../adapter-option.ts";
import { integer, list, path, string } from "../option-types.ts";

export const modelOptions = {
  model: path({
    aliases: ["m"],
    orName: true,
    placeholder: "FILE|NAME",
    help: "GGUF file to serve, or the name of a model that svc pull downloaded. Without it the embedded demonstration model svc-mini answers.",
  }),
  mmproj: path({ placeholder: "FILE", help: "GGUF projector that lets the model take images or sound." }),
  draft: path({
    orName: true,
    placeholder: "FILE|NAME",
    help: "Small GGUF model, by file or name, with the same vocabulary that guesses what the model says next; the answers are the same without.",
  }),
  lora: list({
    paths: "adapters",
    placeholder: "[NAME=]FILE[:SCALE]",
    to: parseAdapters,
    help: "LoRA adapter that requests may choose, by its name as model (default: the file's) or by the field lora. With a scale it is on for requests that choose nothing.",
  }),
  alias: string({ placeholder: "NAME", help: "Model name that clients see; default: the file's name." }),
  ctx: integer(256, 16_777_216, {
    aliases: ["c"],
    absent: "what the model was trained for, as far as memory allows",
    help: "Tokens in the KV cache, shared by all requests.",
  }),
  embeddingModels: list({
    name: "embedding-model",
    paths: true,
    orName: true,
    placeholder: "FILE|NAME",
    help: "GGUF model, by file or name, for /v1/embeddings, loaded when it is first asked; without one the embedded all-MiniLM-L6-v2 answers.",
  }),
  rerankModels: list({
    name: "rerank-model",
    paths: true,
    orName: true,
    placeholder: "FILE|NAME",
    help: "GGUF reranker, by file or name, for /v1/rerank, loaded when it is first asked.",
  }),
  embeddingCtx: integer(16, 1_048_576, {
    default: 2048,
    help: "Most tokens of an input of these models, as far as they were trained for it; longer inputs are cut. Memory grows with it.",
  }),
};
