// What is served.

import type { Option } from "../option.ts";

export const modelOptions: readonly Option[] = [
  {
    name: "model",
    aliases: ["m"],
    group: "Model",
    type: "path",
    placeholder: "FILE",
    help: "GGUF file to serve. Without it the embedded demonstration model svc-mini answers.",
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
    placeholder: "FILE",
    help: "Small GGUF model with the same vocabulary that guesses what the model says next; the answers are the same without.",
  },
  {
    name: "lora",
    group: "Model",
    type: "list",
    files: true,
    placeholder: "[NAME=]FILE[:SCALE]",
    help: "LoRA adapter that requests may choose, by its name as model (default: the file's) or by the field lora. With a scale it is on for requests that choose nothing.",
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
];
