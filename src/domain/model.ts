// The metadata of models that the rest of the program uses.

import type { Sampling } from "./generate.ts";

export interface ModelInfo {
  /** The name that clients see: the file name without `.gguf`, or the `--alias`. */
  readonly id: string;
  /** Absolute path of the file. */
  readonly path: string;
  readonly architecture: string;
  /** llama.cpp's one-line description: architecture, size class, quantisation. */
  readonly description: string;
  readonly parameters: number;
  readonly bytes: number;
  /** Context length the model was trained for, in tokens. */
  readonly trainedContext: number;
  /** Tokens in the KV cache, shared by all sequences. */
  readonly context: number;
  /** Largest prompt plus output of one request, in tokens. */
  readonly maxModelLen: number;
  /** Sequences that can be decoded at once. */
  readonly parallel: number;
  /** Whether messages may contain images, and whether sound. */
  readonly vision: boolean;
  readonly audio: boolean;
  /** What the chat template supports. */
  readonly template: { readonly tools: boolean; readonly thinking: boolean };
  /** The template's Jinja source, and the tokens that begin and end a text. */
  readonly chatTemplate?: { readonly source: string; readonly bos: string; readonly eos: string };
  /** Default settings of requests: launch flags, then the model file, then llama.cpp's defaults. */
  readonly sampling: Required<Pick<Sampling, "temperature" | "topP" | "presencePenalty">>;
  /** All default settings, if known. */
  readonly defaults?: Sampling;
  /** The device that computes the model, as text for people: "CPU (sapphirerapids, 2 threads)". */
  readonly device: string;
  /** Unix seconds: the model file's modification time, so that listings are stable. */
  readonly created: number;
}

/** A model in listings, computed here or by an upstream. */
export interface ListedModel {
  readonly id: string;
  /** The name that its authors gave it, if known. */
  readonly name?: string;
  /** Unix seconds, the same in every listing. */
  readonly created: number;
  /** `svc`, or the name of the upstream that computes the model. */
  readonly ownedBy: string;
  readonly loaded: boolean;
  /** Set while it is being loaded. */
  readonly isLoading?: true;
  /** Capabilities by their API names: `chat`, `tools`, `vision`, … */
  readonly capabilities: readonly string[];
  /** Largest prompt plus output of one request, in tokens, if known. */
  readonly contextLength?: number;
  /** For a LoRA adapter: the model that it adapts. */
  readonly parent?: string;
  /** Other names of the model. */
  readonly aliases?: readonly string[];
  /** Set if an upstream computes the model. */
  readonly remote?: true;
  /** Set if every svc has this model itself: the list for other svc servers omits it. */
  readonly everywhere?: true;
  /** Set for a demonstration that is not meant for real use. */
  readonly isDemo?: true;
  /** Metadata of the model file, as far as known. */
  readonly file?: Partial<
    Pick<
      ModelInfo,
      | "architecture"
      | "description"
      | "parameters"
      | "bytes"
      | "trainedContext"
      | "device"
      | "chatTemplate"
      | "sampling"
      | "defaults"
    >
  > & { readonly dimensions?: number };
}
