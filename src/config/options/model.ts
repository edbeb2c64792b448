// Options for the models to serve.

import { parseAdapters, parseImageAdapters } from "../adapter-option.ts";
import { boolean, choice, integer, list, path } from "../option-types.ts";

/** The value is a file, or the name of a downloaded model. */
const NAMED = { orName: true, placeholder: "FILE|NAME" } as const;

export const modelOptions = {
  model: path({
    aliases: ["m"],
    ...NAMED,
    example: "Qwen/Qwen3-4B-GGUF",
    help: "GGUF file to serve, or the name of a model that svc pull or --pull downloaded. Default: the embedded demonstration model svc-mini.",
  }),
  pull: boolean({
    default: false,
    help: "If a model that --model or another option names is missing, download it first, as svc pull does. No request is made for models that are there.",
  }),
  chatModels: list({
    name: "chat-model",
    ...NAMED,
    paths: true,
    help: "Further chat model, by GGUF file or name. Requests select it by its name; it is loaded on first use, and unloaded when idle or when other models need the memory.",
    example: ["Qwen/Qwen3-0.6B-GGUF"],
  }),
  pulledModels: boolean({
    name: "pulled-models",
    default: false,
    help: "Offer every chat, embedding and rerank model that svc pull downloads, by the names of svc list, without a restart. Each is loaded on first use, and unloaded when idle or when other models need the memory.",
  }),
  mmproj: path({
    placeholder: "FILE",
    example: "mmproj.gguf",
    help: "GGUF multimodal projector, for image or audio input.",
  }),
  draft: path({
    aliases: ["model-draft"],
    ...NAMED,
    example: "Qwen/Qwen3-0.6B-GGUF",
    help: "Draft model for speculative decoding, by GGUF file or name; it must share the model's vocabulary. Answers do not change.",
  }),
  lora: list({
    paths: "adapters",
    placeholder: "[NAME=]FILE[:SCALE]",
    to: parseAdapters,
    example: ["style.gguf"],
    help: "LoRA adapter. Requests select it by its name (default: the file's name) as model, or by its number in the field lora. With a scale, it also applies to requests that select no adapter.",
  }),
  alias: list({
    aliases: ["a"],
    placeholder: "NAME",
    example: ["assistant"],
    help: "Model name that clients see; default: the file's name. Additional names are aliases of the same model.",
  }),
  ctx: integer(256, 16_777_216, {
    aliases: ["c", "ctx-size"],
    absent: "the trained context, at most 32768 per request, as far as memory allows",
    example: 8192,
    help: "Tokens in the KV cache, shared by all requests.",
  }),
  embeddingModels: list({
    name: "embedding-model",
    ...NAMED,
    paths: true,
    example: ["embed.gguf"],
    help: "Embedding model for /v1/embeddings, by GGUF file or name. Loaded on first use. Default: the embedded all-MiniLM-L6-v2.",
  }),
  rerankModels: list({
    name: "rerank-model",
    ...NAMED,
    paths: true,
    example: ["rerank.gguf"],
    help: "Reranker for /v1/rerank, by GGUF file or name. Loaded on first use.",
  }),
  embeddingCtx: integer(16, 1_048_576, {
    default: 2048,
    help: "Maximum input tokens of embedding models and rerankers, up to their trained context; longer inputs are truncated. Memory use grows with this value.",
  }),
  transcriptionModels: list({
    name: "transcription-model",
    ...NAMED,
    paths: true,
    example: ["whisper-small.bin"],
    help: "Speech recognition model for /v1/audio/transcriptions, in whisper.cpp's format, by file or name. Loaded on first use. Default: the embedded Whisper base.",
  }),
  vad: boolean({
    default: true,
    help: "Detect speech in recordings and dictation with Silero VAD. With --no-vad all sound counts as speech, including singing.",
  }),
  imageModels: list({
    name: "image-model",
    ...NAMED,
    paths: true,
    example: ["flux2-klein"],
    help: "Model for /v1/images/generations and /v1/images/edits in a format of stable-diffusion.cpp (safetensors, GGUF, ckpt), by file or name: a complete model, or only its diffusion model. Requests that name no model use the first one. Loaded on first use. Default: the embedded demonstration model svc-draw.",
  }),
  imageVae: path({ ...NAMED, example: "vae.safetensors", help: "Decoder (VAE) of the image models." }),
  imageTextEncoders: list({
    name: "image-text-encoder",
    ...NAMED,
    paths: true,
    example: ["t5.gguf"],
    help: "Text encoder of the image models: CLIP-L, CLIP-G, T5 or a language model; its kind is detected from its tensors. Repeatable, for models that need several.",
  }),
  imageTaesd: path({
    ...NAMED,
    example: "taesd.safetensors",
    help: "Tiny decoder (TAESD) of the image models. It decodes previews of unfinished images, and finished images where there is no other decoder.",
  }),
  imageLora: list({
    name: "image-lora",
    paths: "adapters",
    placeholder: "NAME=FILE",
    to: parseImageAdapters,
    example: ["sketch=sketch.safetensors"],
    help: "LoRA adapter of the image models, which requests select by its name in the field lora.",
  }),
  imageUpscaleModels: list({
    name: "image-upscale-model",
    ...NAMED,
    paths: true,
    example: ["realesrgan"],
    help: "Model for /v1/images/upscale, an ESRGAN in a format of stable-diffusion.cpp (safetensors), by file or name; svc pull realesrgan downloads one. Requests that name no model use the first one. Loaded on first use.",
  }),
  kokoro: path({
    placeholder: "DIR",
    example: "kokoro",
    help: "Folder with the speech model Kokoro for /v1/audio/speech: an ONNX file and voices/NAME.bin. Loaded on first use. Default: the one that svc pull kokoro downloaded.",
  }),
  hostVoices: boolean({
    default: true,
    help: "Use speech programs that are installed on the host for /v1/audio/speech: espeak-ng, Piper, say (macOS), SAPI (Windows).",
  }),
  piperVoices: path({
    placeholder: "DIR",
    example: "piper-voices",
    help: "Folder with voices for the program piper, each as NAME.onnx and NAME.onnx.json.",
  }),
  ocrEngine: choice(["tesseract", "ppocr"], {
    default: "tesseract",
    help: "Text recognition engine for /v1/vision/ocr. tesseract: Tesseract for all requests. ppocr: PP-OCRv5, which svc pull ppocr downloads, for requests that name Chinese or Japanese, and Tesseract for all others.",
  }),
  ocrLanguages: list({
    name: "ocr-language",
    default: [],
    placeholder: "TAG",
    help: "Languages of text in images and documents for requests that name no language, the most frequent first, such as de,en. Default: English.",
  }),
  ocrData: path({
    placeholder: "DIR",
    example: "tessdata",
    help: "Folder of Tesseract's trained data (NAME.traineddata) for /v1/vision/ocr. Not needed for the embedded English data, data that svc pull tessdata:NAME downloaded, and data of the system's packages.",
  }),
};
