// The types that fill in `process/protocol` for embedding engines: start options, jobs and answers.

import type { EmbeddingKind, EmbeddingModel } from "../../domain/embedding.ts";
import type { ComputeOptions } from "../process/kind.ts";
import type { FromEngine } from "../process/protocol.ts";
import type { EmbeddingEvent } from "./port.ts";

export interface EmbedderOptions extends ComputeOptions {
  readonly modelPath: string;
  readonly kind: EmbeddingKind;
  /** Longest input in tokens; longer ones are truncated. */
  readonly maxTokens: number;
}

export type FromEmbedder = FromEngine<EmbeddingModel, EmbeddingEvent>;
