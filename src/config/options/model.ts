// What is served.

import type { Option } from "../option.ts";

export const modelOptions: readonly Option[] = [
  {
    name: "model",
    aliases: ["m"],
    group: "Model",
    type: "path",
    orName: true,
    placeholder: "FILE|NAME",
    help: "GGUF file to serve, or the name of a model that svc pull downloaded. Without it the embedded demonstration model svc-mini answers.",
  },
  {
    name: "mmproj",
    group: "Model",
    type: "path",
    placeholder: "FILE",
    help: "GGUF projector that lets the model take images or sound.",
  },
  {
    name: "draft",
    group: "Model",
    type: "path",
    orName: true,
    placeholder: "FILE|NAME",
    help: "Small GGUF model, by file or name, with the same vocabulary that guesses what the model says next; the answers are the same without.",
  },
  {
    name: "alias",
    group: "Model",
    type: "string",
    placeholder: "NAME",
    help: "Model name that clients see; default: the file's name.",
  },
  {
    name: "ctx",
    aliases: ["c"],
    group: "Model",
    type: "integer",
    minimum: 256,
    maximum: 16_777_216,
    absent: "what the model was trained for, as far as memory allows",
    help: "Tokens in the KV cache, shared by all requests.",
  },
  {
    name: "embedding-model",
    group: "Model",
    type: "list",
    paths: true,
    orName: true,
    placeholder: "FILE|NAME",
    help: "GGUF model, by file or name, for /v1/embeddings, loaded when it is first asked; without one the embedded all-MiniLM-L6-v2 answers.",
  },
  {
    name: "rerank-model",
    group: "Model",
    type: "list",
    paths: true,
    orName: true,
    placeholder: "FILE|NAME",
    help: "GGUF reranker, by file or name, for /v1/rerank, loaded when it is first asked.",
  },
  {
    name: "embedding-ctx",
    group: "Model",
    type: "integer",
    minimum: 16,
    maximum: 1_048_576,
    default: 2048,
    help: "Most tokens of an input of these models, as far as they were trained for it; longer inputs are cut. Memory grows with it.",
  },
];
