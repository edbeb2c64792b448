// The messages between the front process and a text engine.

import type { BusyReason, ErrorCode } from "../../domain/errors.ts";
import type { FileIdentity } from "../../domain/file-identity.ts";
import type { FinishEvent, GenerateRequest, OutputEvent } from "../../domain/generate.ts";
import type { ModelInfo } from "../../domain/model.ts";
import type { StepCounts } from "../../domain/steps.ts";
import type { RequestKey } from "../process/protocol.ts";
import type { EngineStats } from "./port.ts";

/** How the engine process is to load and serve its model; every field is decided by the front process. */
export interface EngineOptions {
  /** Directory with the native libraries; also the engine's working directory. */
  readonly libraries: string;
  readonly modelPath: string;
  /** Projector for images or sound; absent: the model takes text alone. */
  readonly mmprojPath?: string;
  /** LoRA files that are loaded with the model; requests choose among them by their place. */
  readonly adapterPaths: readonly string[];
  /** Tokens in the KV cache. */
  readonly context: number;
  /** Largest prompt plus output of one request. */
  readonly maxModelLen: number;
  /** Prompt tokens that may wait; one request may wait, however long. */
  readonly maxQueueTokens: number;
  readonly parallel: number;
  readonly kvMode: "unified" | "streams";
  /** Whether what finished requests computed serves later ones. */
  readonly prefixCache: boolean;
  /** Whether next tokens are guessed: from what was said before, and by the draft model. */
  readonly speculation: boolean;
  /** A small model that guesses for the large one; only with `speculation`. */
  readonly draft?: {
    readonly path: string;
    /** Most tokens in a row. */
    readonly max: number;
    /** A token that the draft model gives less ends the row. */
    readonly pMin: number;
    /** As many as pay; else always `max`. */
    readonly adaptive: boolean;
  };
  readonly kvType: string;
  /** Bytes that a token takes in the KV cache. */
  readonly kvTokenBytes: number;
  /** Host memory for what has to leave the KV cache. */
  readonly cacheRamBytes: number;
  /** Folder for what leaves host memory too, the bytes that it may take, and what the bytes in it are of; absent: none. */
  readonly kvDir?: {
    readonly path: string;
    readonly limitBytes: number;
    readonly model: FileIdentity;
    readonly projector?: FileIdentity;
    /** In the order of `adapterPaths`. */
    readonly adapterHashes: readonly string[];
  };
  readonly batch: number;
  readonly microBatch: number;
  readonly threads: number;
  readonly gpuLayers: number;
  readonly flashAttention: "auto" | "on" | "off";
  readonly mmap: boolean;
  readonly mlock: boolean;
  readonly warmup: boolean;
  /** Longest pause that another request's prefill may cause in a running stream, in milliseconds. */
  readonly stallBudgetMs: number;
  /** Jinja source in place of the model's own chat template, or "". */
  readonly chatTemplate: string;
  /** Whether schemas, forced tools and grammars are enforced while sampling. */
  readonly constrain: boolean;
  /** File that the timeline is appended to. */
  readonly traceFile?: string;
  /** Sampling defaults from flags; they win over the model file's own. */
  readonly sampling: GenerateRequest["sampling"];
}

/** What the engine found out about the model while loading it. */
export type EngineReady = Pick<
  ModelInfo,
  | "architecture"
  | "description"
  | "parameters"
  | "bytes"
  | "vocabulary"
  | "trainedContext"
  | "context"
  | "hasChatTemplate"
  | "template"
  | "vision"
  | "audio"
  | "device"
  | "sampling"
>;

/** What was found on disk: conversations, the tokens of all, and damaged files that were removed. */
export interface OnDisk {
  readonly conversations: number;
  readonly tokens: number;
  readonly damaged: number;
}

export type ToEngine =
  | { readonly type: "load"; readonly version: number; readonly options: EngineOptions }
  | { readonly type: "generate"; readonly key: RequestKey; readonly request: GenerateRequest }
  /** `quiet`: the client is gone, no finish is wanted. */
  | { readonly type: "cancel"; readonly key: RequestKey; readonly quiet: boolean }
  | { readonly type: "count"; readonly key: RequestKey; readonly request: GenerateRequest }
  | { readonly type: "render"; readonly key: RequestKey; readonly request: GenerateRequest }
  | { readonly type: "detokenize"; readonly key: RequestKey; readonly tokens: readonly number[] }
  | { readonly type: "tokenize"; readonly key: RequestKey; readonly text: string };

export interface StepOutput {
  readonly key: RequestKey;
  readonly events: readonly OutputEvent[];
}

export interface StepFinish {
  readonly key: RequestKey;
  readonly event: FinishEvent;
}

/** The engine's levels after what a message tells. */
export type Levels = Omit<EngineStats, "kvTotal">;

export type FromEngine =
  | { readonly type: "progress"; readonly value: number }
  /** `onDisk`: what an earlier process left, where there is a place for it. */
  | { readonly type: "ready"; readonly model: EngineReady; readonly onDisk?: OnDisk }
  /** Loading failed for good: the process exits after this. The sentence may be shown to the operator. */
  | { readonly type: "load-failed"; readonly message: string }
  | {
      readonly type: "accepted";
      readonly key: RequestKey;
      readonly promptTokens: number;
      readonly downgraded: boolean;
      readonly stats: Levels;
    }
  | {
      readonly type: "rejected";
      readonly key: RequestKey;
      readonly code: ErrorCode;
      readonly message: string;
      readonly param?: string;
      /** With `server_busy`. */
      readonly busy?: BusyReason;
    }
  /** Sent before the first computation for these requests: should the process die from here on, they are lost. */
  | { readonly type: "started"; readonly keys: readonly RequestKey[]; readonly stats: Levels }
  /** One decode step for all sequences. */
  | {
      readonly type: "step";
      readonly outputs: readonly StepOutput[];
      readonly finished: readonly StepFinish[];
      readonly stats: Levels;
    }
  /** Decode calls since the last such message. */
  | { readonly type: "steps"; readonly tally: StepCounts }
  | { readonly type: "tokens"; readonly key: RequestKey; readonly tokens: Int32Array }
  | { readonly type: "text"; readonly key: RequestKey; readonly text: string }
  | { readonly type: "log"; readonly level: "debug" | "info" | "warn" | "error"; readonly text: string };
