// Options for the models to serve.

import { parseAdapters, parseImageAdapters } from "../adapter-option.ts";
import { boolean, choice, integer, list, path } from "../option-types.ts";

/** The value is a file, or the name of a downloaded model. */
const NAMED = { orName: true, placeholder: "FILE|NAME" } as const;

export const modelOptions = {
  model: path({
    aliases: ["m"],
    ...NAMED,
    help: "GGUF file to serve, or the name of a model that svc pull downloaded. Default: the embedded demonstration model svc-mini.",
  }),
  mmproj: path({ placeholder: "FILE", help: "GGUF multimodal projector, for image or audio input." }),
  draft: path({
    aliases: ["model-draft"],
    ...NAMED,
    help: "Draft model for speculative decoding, by GGUF file or name; it must share the model's vocabulary. Answers do not change.",
  }),
  lora: list({
    paths: "adapters",
    placeholder: "[NAME=]FILE[:SCALE]",
    to: parseAdapters,
    help: "LoRA adapter that requests select by its name (default: the file's) as model, or by the field lora. With a scale it also applies to requests that select none.",
  }),
  alias: list({
    aliases: ["a"],
    placeholder: "NAME",
    help: "Model name that clients see; default: the file's name. Further names mean the same model.",
  }),
  ctx: integer(256, 16_777_216, {
    aliases: ["c", "ctx-size"],
    absent: "the trained context, as far as memory allows",
    help: "Tokens in the KV cache, shared by all requests.",
  }),
  embeddingModels: list({
    name: "embedding-model",
    ...NAMED,
    paths: true,
    help: "Embedding model for /v1/embeddings, by GGUF file or name. Loaded on first use. Default: the embedded all-MiniLM-L6-v2.",
  }),
  rerankModels: list({
    name: "rerank-model",
    ...NAMED,
    paths: true,
    help: "Reranker for /v1/rerank, by GGUF file or name. Loaded on first use.",
  }),
  embeddingCtx: integer(16, 1_048_576, {
    default: 2048,
    help: "Maximum input tokens of embedding models and rerankers, up to their trained context; longer inputs are truncated. Memory grows with it.",
  }),
  transcriptionModels: list({
    name: "transcription-model",
    ...NAMED,
    paths: true,
    help: "Speech recognition model for /v1/audio/transcriptions, in whisper.cpp's format, by file or name. Loaded on first use. Default: the embedded Whisper base.",
  }),
  vad: boolean({
    default: true,
    help: "Find speech in recordings and dictation with Silero VAD; without it everything counts as speech, also singing.",
  }),
  imageModels: list({
    name: "image-model",
    ...NAMED,
    paths: true,
    help: "Model for /v1/images/generations and edits, as stable-diffusion.cpp reads it (safetensors, GGUF, ckpt), by file or name: a whole one, or the part that draws. Requests that name none get the first. Loaded on first use. Default: the embedded demonstration model svc-draw.",
  }),
  imageVae: path({ ...NAMED, help: "Decoder (VAE) of the image models." }),
  imageTextEncoders: list({
    name: "image-text-encoder",
    ...NAMED,
    paths: true,
    help: "Text encoder of the image models: CLIP-L, CLIP-G, T5 or a language model, found from its tensors. Several where a model needs them.",
  }),
  imageTaesd: path({
    ...NAMED,
    help: "Tiny decoder (TAESD) of the image models: it shows images that are not done, and decodes all where there is no other.",
  }),
  imageLora: list({
    name: "image-lora",
    paths: "adapters",
    placeholder: "NAME=FILE",
    to: parseImageAdapters,
    help: "LoRA adapter of the image models, which requests select by its name in the field lora.",
  }),
  imageUpscaleModels: list({
    name: "image-upscale-model",
    ...NAMED,
    paths: true,
    help: "Model for /v1/images/upscale, an ESRGAN as stable-diffusion.cpp reads it (safetensors), by file or name; svc pull realesrgan downloads one. Requests that name none get the first. Loaded on first use.",
  }),
  kokoro: path({
    placeholder: "DIR",
    help: "Folder with Kokoro for /v1/audio/speech: an ONNX file, and voices/NAME.bin. Loaded on first use. Default: what svc pull kokoro downloaded.",
  }),
  hostVoices: boolean({
    default: true,
    help: "Use the host's programs for /v1/audio/speech, as far as they are installed: espeak-ng, Piper, say of macOS, SAPI of Windows.",
  }),
  piperVoices: path({
    placeholder: "DIR",
    help: "Folder with voices of Piper, NAME.onnx and NAME.onnx.json each, for the program piper.",
  }),
  ocrEngine: choice(["tesseract", "ppocr"], {
    default: "tesseract",
    help: "What recognises text for /v1/vision/ocr: Tesseract, or for requests that name Chinese or Japanese PP-OCRv5, which svc pull ppocr downloads, and Tesseract for all others.",
  }),
  ocrLanguages: list({
    name: "ocr-language",
    default: [],
    placeholder: "TAG",
    help: "Languages of text in images and documents for requests that name none, the most frequent first, as de,en. Default: English.",
  }),
  ocrData: path({
    placeholder: "DIR",
    help: "Folder of Tesseract's trained data (NAME.traineddata) for /v1/vision/ocr. Data that svc pull tessdata:NAME downloaded, the embedded English and the system's packages are found without it.",
  }),
};
