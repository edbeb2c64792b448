// The one validated configuration that the rest of the program receives. Built by `src/cli` from flags, environment
// variables and the config file, in this order of precedence; nothing else reads the environment.

import type { Adapter } from "../domain/adapters.ts";
import type { JsonSchema, Sampling, TemplateKwargs } from "../domain/generate.ts";
import type { GatewayConfig } from "./gateway.ts";

export type LogLevel = "debug" | "info" | "warn" | "error";

export interface Config {
  /** Absolute path of the GGUF file, or the name of a downloaded model; absent: the embedded svc-mini. */
  readonly model?: string;
  /** Absolute path of the GGUF file that turns images or sound into embeddings for the model. */
  readonly mmproj?: string;
  /** The same of a small model that guesses ahead; absent: none. */
  readonly draft?: string;
  /** LoRA adapters that requests may choose. */
  readonly lora: readonly Adapter[];
  /** The one folder whose files messages may name; absent: none. */
  readonly mediaRoot?: string;
  /** Whether images are fetched from http(s) URLs in messages. */
  readonly mediaFetch: boolean;
  /** Name shown to clients instead of the file's. */
  readonly alias?: string;

  /** false: nothing is computed here. */
  readonly serveModel: boolean;
  readonly gateway: GatewayConfig;
  /** Absolute paths or names of the models that give vectors; none: the embedded one does. */
  readonly embeddingModels: readonly string[];
  /** The same of rerankers. */
  readonly rerankModels: readonly string[];
  /** Most tokens of an input of these. */
  readonly embeddingCtx: number;

  readonly host: string;
  readonly port: number;
  /** Origins beyond loopback and app origins whose browsers may call; `*` is all. */
  readonly corsOrigins: readonly string[];
  /** Host names beyond the loopback ones that a request may carry on a loopback bind. */
  readonly allowedHosts: readonly string[];
  /** Routes outside /v1, as other servers have them. */
  readonly conveniences: boolean;
  /** false: a request for a stream is answered as plain JSON. */
  readonly streaming: boolean;
  readonly heartbeatMs: number;
  readonly drainTimeoutMs: number;
  /** How long a request waits for an engine that is loading or restarting. */
  readonly loadTimeoutMs: number;
  /** Requests that may wait beyond the `parallel` running ones before 503 `server_busy`. */
  readonly maxQueue: number;
  readonly maxQueueTokens: number;
  /** How long an accepted request may wait for its first computation; 0: no limit. */
  readonly queueTimeoutMs: number;

  /** Answers of the responses convention that are kept for fetching and continuing. */
  readonly storedResponses: { readonly count: number; readonly bytes: number };

  /** Files of batches: most bytes and lines. */
  readonly files: {
    readonly bytes: number;
    readonly lines: number;
    /** How long files are kept; null: until they are deleted. */
    readonly keepSeconds: number | null;
    /** How long batches are kept after their end; null: for ever. */
    readonly keepBatchSeconds: number | null;
  };

  /** Tokens in the KV cache; absent: from the model, capped by memory. */
  readonly ctx?: number;
  readonly parallel: number;
  /** Absent: the number of physical cores. */
  readonly threads?: number;
  readonly gpuLayers: number;
  readonly flashAttention: "auto" | "on" | "off";
  readonly kvType: "f16" | "q8_0" | "q4_0" | "f32" | "bf16";
  readonly kvMode: "auto" | "unified" | "streams";
  readonly prefixCache: boolean;
  /** MiB; absent: chosen by free memory. */
  readonly cacheRam?: number;
  /** Absolute path of the folder for what leaves host memory; absent: none. */
  readonly kvDir?: string;
  /** MiB. */
  readonly kvDirSize: number;
  readonly speculation: boolean;
  readonly draftMax: number;
  readonly draftPMin: number;
  readonly draftAdaptive: boolean;
  readonly batch: number;
  readonly microBatch: number;
  readonly mmap: boolean;
  readonly mlock: boolean;
  readonly warmup: boolean;
  readonly stallBudgetMs: number;

  /** Server defaults for requests that omit the field. */
  readonly sampling: Sampling;
  readonly maxTokens?: number;
  readonly maxLogprobs: number;
  readonly stop: readonly string[];
  readonly templateKwargs: TemplateKwargs;
  /** Jinja source in place of the model's own chat template, or "". */
  readonly chatTemplate: string;
  /** false: no request may think. */
  readonly think: boolean;
  /** Default limit of reasoning, in tokens. */
  readonly reasoningBudget?: number;
  /** Schema of the answers to requests that name no format. */
  readonly guidedJson?: JsonSchema;
  /** false: schemas and grammars are not enforced while sampling. */
  readonly constrain: boolean;

  readonly logLevel: LogLevel;
  readonly logFormat: "text" | "json";
  /** Absolute path of the file that the engine's timeline is written to; absent: none. */
  readonly traceFile?: string;
  readonly cacheDir: string;
  readonly dataDir: string;
  /** Folder of downloaded models. */
  readonly modelsDir: string;
}
