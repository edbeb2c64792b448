// The messages between the front process and an embedding engine. The version is that of the other engines' protocol.

import type { EmbeddingKind, EmbeddingModel, EmbeddingResult, EmbeddingWork } from "../../domain/embedding.ts";
import type { ErrorCode } from "../../domain/errors.ts";
import type { RequestKey } from "../process/protocol.ts";

/** How the engine process is to load and serve its model. */
export interface EmbedderOptions {
  /** Directory with the native libraries; also the engine's working directory. */
  readonly libraries: string;
  readonly modelPath: string;
  readonly kind: EmbeddingKind;
  /** Longest input in tokens; longer ones are cut. */
  readonly maxTokens: number;
  readonly threads: number;
  readonly gpuLayers: number;
  readonly flashAttention: "auto" | "on" | "off";
  readonly mmap: boolean;
  readonly mlock: boolean;
  readonly warmup: boolean;
}

export type ToEmbedder =
  | { readonly type: "load"; readonly version: number; readonly options: EmbedderOptions }
  | { readonly type: "embed"; readonly key: RequestKey; readonly work: EmbeddingWork }
  | { readonly type: "cancel"; readonly key: RequestKey };

export type FromEmbedder =
  | { readonly type: "ready"; readonly model: EmbeddingModel }
  /** Loading failed: the process exits after this. The sentence may be shown to the operator. */
  | { readonly type: "load-failed"; readonly message: string }
  /** Sent before the first computation for these requests: should the process die from here on, they are lost. */
  | { readonly type: "started"; readonly keys: readonly RequestKey[] }
  | { readonly type: "result"; readonly key: RequestKey; readonly result: EmbeddingResult }
  | {
      readonly type: "rejected";
      readonly key: RequestKey;
      readonly code: ErrorCode;
      readonly message: string;
      readonly param?: string;
    }
  | { readonly type: "log"; readonly level: "debug" | "info" | "warn" | "error"; readonly text: string };
