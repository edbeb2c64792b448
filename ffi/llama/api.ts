// The typed face of the llama shim: what `binding.ts` implements with bun:ffi and a fake implements in tests.

/** See svc_load_start in shim.h. */
export interface LoadConfig {
  readonly path: string;
  readonly context: number;
  readonly parallel: number;
  readonly unified: boolean;
  readonly batch: number;
  readonly microBatch: number;
  readonly threads: number;
  readonly gpuLayers: number;
  readonly flashAttention: "auto" | "on" | "off";
  readonly kvType: string;
  readonly mmap: boolean;
  readonly mlock: boolean;
  readonly warmup: boolean;
}

/** See svc_model_info in shim.h. */
export interface LoadedModel {
  readonly description: string;
  readonly architecture: string;
  readonly parameters: number;
  readonly bytes: number;
  readonly vocabulary: number;
  readonly trainedContext: number;
  readonly context: number;
  readonly contextPerSequence: number;
  readonly batch: number;
  readonly hasChatTemplate: boolean;
  readonly device: string;
  readonly canRemovePartial: boolean;
  readonly sampling: Readonly<Partial<Omit<SamplerConfig, "seed" | "topLogprobs" | "ignoreEos">>>;
}

/** See svc_sampler_create in shim.h. */
export interface SamplerConfig {
  readonly temperature: number;
  readonly topP: number;
  readonly topK: number;
  readonly minP: number;
  readonly repetitionPenalty: number;
  readonly repetitionWindow: number;
  readonly presencePenalty: number;
  readonly seed: number;
  readonly topLogprobs: number;
  readonly ignoreEos: boolean;
}

export type PromptRequest =
  | {
      readonly messages: readonly { role: string; content: string; name?: string }[];
      readonly kwargs: Readonly<Record<string, unknown>>;
      readonly enableThinking: boolean;
    }
  | { readonly text: string; readonly parseSpecial: boolean; readonly addSpecial: boolean };

export type PromptResult =
  | { readonly job: number; readonly tokens: Int32Array; readonly stops: readonly string[] }
  | { readonly job: number; readonly error: string };

export type LoadState =
  | { readonly state: "loading"; readonly progress: number }
  | { readonly state: "ready" }
  | { readonly state: "failed"; readonly error: string };

/** Branded so that a sampler slot cannot be mistaken for a sequence id. */
export type SamplerId = number & { readonly __sampler: unique symbol };

/** One decode batch in columns; capacity is the batch size the model was loaded with. */
export interface Batch {
  readonly tokens: Int32Array;
  readonly positions: Int32Array;
  readonly sequences: Int32Array;
  /** Sampler of the row, or -1 where no logits are wanted. */
  readonly samplers: Int32Array;
}

/** As the owner of a batch: any request's abort may stop it. */
export const ANY_OWNER = -1;

export type DecodeResult = "done" | "no-room" | "aborted";

export interface Llama {
  readonly version: string;
  loadStart(config: LoadConfig): void;
  loadPoll(): LoadState;
  model(): LoadedModel;
  /** Queues rendering and tokenizing on the native prompt thread; returns the job number. */
  submitPrompt(request: PromptRequest): number;
  /** The next finished job, waiting up to `timeoutMs` (the whole thread waits), or undefined. */
  takePrompt(timeoutMs: number): PromptResult | undefined;
  /** Raw bytes of a token's text; empty for control tokens. The array is shared: do not write to it. */
  piece(token: number): Uint8Array;
  isEnd(token: number): boolean;
  createSampler(config: SamplerConfig): SamplerId;
  freeSampler(sampler: SamplerId): void;
  primeSampler(sampler: SamplerId, tokens: Int32Array): void;
  /** The last sampled token first, then the alternatives, best first. */
  logprobs(sampler: SamplerId): { readonly token: number; readonly logprob: number }[];
  /** Throws LlamaError when the computation fails. `sampled` receives one token a sampled row, in row order. */
  decode(batch: Batch, count: number, owner: number, sampled: Int32Array): DecodeResult;
  listenForAborts(fd: number): void;
  kvRemove(sequence: number, from: number, to: number): boolean;
  kvCopy(from: number, to: number, length: number): void;
  kvClear(): void;
  /** Log lines since the last call. */
  drainLog(): { readonly level: "debug" | "info" | "warn" | "error"; readonly text: string }[];
}

/** A native call failed; the message is for the log, not for clients. */
export class LlamaError extends Error {
  override readonly name = "LlamaError";
}
