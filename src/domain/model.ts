// What the rest of the program knows about the loaded model.

import type { Sampling } from "./generate.ts";

export interface ModelInfo {
  /** The name clients see: the file name without `.gguf`, or the `--alias`. */
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
  /** Kinds of media that messages may contain. */
  readonly vision: boolean;
  readonly audio: boolean;
  /** What the chat template can say and have answered. */
  readonly template: { readonly tools: boolean; readonly thinking: boolean };
  /** Its Jinja source, and the tokens that begin and end a text. */
  readonly chatTemplate?: { readonly source: string; readonly bos: string; readonly eos: string };
  /** Settings of a request that names none: flags, then the model file's, then llama.cpp's. */
  readonly sampling: Required<Pick<Sampling, "temperature" | "topP" | "presencePenalty">>;
  /** All of them, where they are known. */
  readonly defaults?: Sampling;
  /** Where the weights are computed, for people: "CPU (sapphirerapids, 2 threads)". */
  readonly device: string;
  /** Unix seconds: the model file's modification time, so that listings are stable. */
  readonly created: number;
}

/** A model as listings show it, wherever it is computed. */
export interface ListedModel {
  readonly id: string;
  /** What its makers call it, where that is known. */
  readonly name?: string;
  /** Unix seconds, the same in every listing. */
  readonly created: number;
  /** Who computes it: `svc`, or the name of another server. */
  readonly ownedBy: string;
  readonly loaded: boolean;
  /** What can be asked of it, by the names of the API: `chat`, `tools`, `vision`, … */
  readonly capabilities: readonly string[];
  /** Largest prompt plus output of one request, in tokens, where it is known. */
  readonly contextLength?: number;
  /** The model that it adapts: it is a LoRA adapter. */
  readonly parent?: string;
  /** Other names of it. */
  readonly aliases?: readonly string[];
  /** Another server computes it. */
  readonly remote?: true;
  /** Every svc has one of its own: other ones are not told of it. */
  readonly everywhere?: true;
  /** A demonstration, not a model to work with. */
  readonly isDemo?: true;
  /** What is known of the model's file. */
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
