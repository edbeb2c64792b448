// What is served.

import { parseAdapters } from "../adapter-option.ts";
import { integer, list, path, string } from "../option-types.ts";

export const modelOptions = {
  model: path({
    aliases: ["m"],
    orName: true,
    placeholder: "FILE|NAME",
    help: "GGUF file to serve, or the name of a model that svc pull downloaded. Default: the embedded demonstration model svc-mini.",
  }),
  mmproj: path({ placeholder: "FILE", help: "GGUF multimodal projector, for image or audio input." }),
  draft: path({
    orName: true,
    placeholder: "FILE|NAME",
    help: "Draft model for speculative decoding, by GGUF file or name; it must share the model's vocabulary. Answers do not change.",
  }),
  lora: list({
    paths: "adapters",
    placeholder: "[NAME=]FILE[:SCALE]",
    to: parseAdapters,
    help: "LoRA adapter that requests select by its name (default: the file's) as model, or by the field lora. With a scale it also applies to requests that select none.",
  }),
  alias: string({ placeholder: "NAME", help: "Model name that clients see; default: the file's name." }),
  ctx: integer(256, 16_777_216, {
    aliases: ["c"],
    absent: "the trained context, as far as memory allows",
    help: "Tokens in the KV cache, shared by all requests.",
  }),
  embeddingModels: list({
    name: "embedding-model",
    paths: true,
    orName: true,
    placeholder: "FILE|NAME",
    help: "Embedding model for /v1/embeddings, by GGUF file or name. Loaded on first use. Default: the embedded all-MiniLM-L6-v2.",
  }),
  rerankModels: list({
    name: "rerank-model",
    paths: true,
    orName: true,
    placeholder: "FILE|NAME",
    help: "Reranker for /v1/rerank, by GGUF file or name. Loaded on first use.",
  }),
  embeddingCtx: integer(16, 1_048_576, {
    default: 2048,
    help: "Maximum input tokens of these models, up to their trained context; longer inputs are truncated. Memory grows with it.",
  }),
  transcriptionModels: list({
    name: "transcription-model",
    paths: true,
    orName: true,
    placeholder: "FILE|NAME",
    help: "Speech recognition model for /v1/audio/transcriptions, in whisper.cpp's format, by file or name. Loaded on first use. Default: the embedded Whisper base.",
  }),
  ocrData: path({
    placeholder: "DIR",
    help: "Folder of Tesseract's trained data (NAME.traineddata) for /v1/vision/ocr. Data that svc pull tessdata:NAME downloaded, the embedded English and the system's packages are found without it.",
  }),
};
