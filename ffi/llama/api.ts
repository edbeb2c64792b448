// The typed interface of the llama shim; `binding.ts` implements it with bun:ffi, and tests implement it with a fake.

import { NativeError, type NativeFailure } from "../runtime/native-error.ts";

/** Why a native call failed; see svc_error in shim.h. */
export const LLAMA_ERRORS = [
  "failed",
  "no-capacity",
  "unknown-token",
  "no-infill",
  "bad-grammar",
  "prefill-too-deep",
  "prefill-ambiguous",
  "prompt-too-slow",
] as const;
export type LlamaErrorCode = (typeof LLAMA_ERRORS)[number];

/** A native call failed; the message is for the log, not for clients. */
export class LlamaError extends NativeError<LlamaErrorCode> {
  override readonly name = "LlamaError";
}

/**
 * Layout of sequences in the KV cache. `unified`: all share one block of memory. `streams`: each has an equal share.
 * `paged`: each has its own region, which takes memory as it fills.
 */
type KvLayout = "unified" | "streams" | "paged";

/** See svc_load_start in shim.h. */
export interface LoadConfig {
  readonly path: string;
  readonly context: number;
  readonly parallel: number;
  /** Requested number of sequence ids, at least `parallel`; exactly `parallel` with `streams`, and for some models. */
  readonly sequences: number;
  /** Requested layout of the KV cache; `paged` falls back to `unified` where it is not available. */
  readonly layout: KvLayout;
  /** Maximum number of cells of a paged sequence. */
  readonly region: number;
  readonly batch: number;
  readonly microBatch: number;
  readonly threads: number;
  readonly gpuLayers: number;
  readonly flashAttention: "auto" | "on" | "off";
  readonly kvType: string;
  readonly mmap: boolean;
  readonly mlock: boolean;
  readonly warmup: boolean;
  /** Jinja source that replaces the model's own chat template, or "". */
  readonly chatTemplate: string;
  /** LoRA files for this model. */
  readonly adapters: readonly string[];
  /** A draft model. `pMin`: a token with a lower probability ends the draft. */
  readonly draft?: { readonly path: string; readonly pMin: number };
  /** Absent: the model is split over the GPUs of this machine. */
  readonly spread?: Spread;
}

/**
 * How a model is split over several devices: first the workers' devices in their order, then the GPUs of this machine.
 */
export interface Spread {
  /**
   * `address:port` of each worker. The caller must know that all are reachable: an unreachable one ends the process.
   */
  readonly workers: readonly string[];
  /** `none` puts the whole model on device `mainGpu`. */
  readonly splitMode: "layer" | "row" | "none";
  readonly mainGpu: number;
  /** Share of each device; empty to split by free memory. */
  readonly tensorSplit: readonly number[];
}

/** An adapter, by its index in LoadConfig.adapters, and the scale at which it is added to the model. */
export interface AdapterScale {
  readonly id: number;
  readonly scale: number;
}

/** Properties that every kind of model has. */
export interface ModelDescription {
  readonly description: string;
  readonly architecture: string;
  readonly parameters: number;
  readonly bytes: number;
  readonly vocabulary: number;
  readonly trainedContext: number;
  readonly device: string;
}

/** See svc_model_info in shim.h. */
export interface LoadedModel extends ModelDescription {
  /** Total number of cells that all sequences together may fill. */
  readonly context: number;
  readonly contextPerSequence: number;
  readonly layout: KvLayout;
  /** Number of sequence ids. */
  readonly sequences: number;
  readonly batch: number;
  /** Maximum rows of a prompt chunk that can be paused; 0 where chunks cannot be paused. */
  readonly chunk: number;
  /** Jinja source. */
  readonly chatTemplate: string;
  /** Texts of the tokens that begin and end a text, or "". */
  readonly bosToken: string;
  readonly eosToken: string;
  readonly template: {
    readonly tools: boolean;
    readonly thinking: boolean;
    readonly system: boolean;
  };
  readonly canRemovePartial: boolean;
  /** Maximum bytes of text that one token stands for; 0 when unknown. */
  readonly longestToken: number;
  /** Whether the tokens of the last few steps can be removed. */
  readonly canRollBack: boolean;
  readonly sampling: Readonly<Partial<typeof SAMPLER_DEFAULTS>>;
}

/** llama.cpp's own defaults, as its command line has them. */
export const SAMPLER_DEFAULTS = {
  temperature: 0.8,
  topP: 0.95,
  topK: 40,
  minP: 0.05,
  typicalP: 1,
  topNSigma: -1,
  xtcProbability: 0,
  xtcThreshold: 0.1,
  dynatempRange: 0,
  dynatempExponent: 1,
  repetitionPenalty: 1,
  repetitionWindow: 64,
  presencePenalty: 0,
  dryMultiplier: 0,
  dryBase: 1.75,
  dryAllowedLength: 2,
  dryPenaltyLastN: 64,
  drySequenceBreakers: ["\n", ":", '"', "*"] as readonly string[],
  mirostat: 0 as 0 | 1 | 2,
  mirostatTau: 5,
  mirostatEta: 0.1,
  /** Token and the value added to its logit. JSON cannot express -Infinity, so -1e9 bans a token. */
  logitBias: [] as readonly (readonly [token: number, bias: number])[],
  ignoreEos: false,
  minTokens: 0,
  /** Tokens of reasoning after which the end of reasoning is forced; -1 for no limit. */
  reasoningBudget: -1,
  topLogprobs: -1,
};

/** See svc_prompt_submit in shim.h. */
export type SamplerConfig = Readonly<typeof SAMPLER_DEFAULTS> & { readonly seed: number };

/** A conversation for the model's chat template; messages and tools have the shapes of OpenAI's chat API. */
export interface ChatPrompt {
  readonly messages: readonly object[];
  readonly tools: readonly object[];
  /** For each tool, the schema that is enforced on its arguments; the model reads the schemas in `tools`. */
  readonly enforced: readonly object[];
  /**
   * Number of tools, counted from the end, that the messages themselves describe: they may be called, but are not in
   * the rendered list.
   */
  readonly described?: number;
  readonly toolChoice: "auto" | "required";
  readonly parallelToolCalls: boolean;
  /** JSON schema that the answer must follow. */
  readonly schema?: unknown;
  /** GBNF that the answer must follow. */
  readonly grammar?: string;
  /** False: nothing is enforced. */
  readonly constrain: boolean;
  readonly kwargs: Readonly<Record<string, unknown>>;
  /** Absent: the template's default. */
  readonly enableThinking?: boolean;
  /** The last message is a prefix of the answer (assistant prefill). */
  readonly continueLast: boolean;
  /** False: the prompt ends after the last message. */
  readonly generationPrompt: boolean;
  /** Some parts are media: the result is the rendered text, not its tokens. */
  readonly media: boolean;
  readonly sampler: SamplerConfig;
}

/** Fields common to text and token prompts, which use no chat template. */
interface PlainPrompt {
  /** Requests log probabilities of the prompt's own tokens. */
  readonly score?: true;
  readonly schema?: unknown;
  readonly grammar?: string;
  readonly sampler?: SamplerConfig;
}

/** Text to continue, or with `suffix` a gap to fill. */
export interface TextPrompt extends PlainPrompt {
  readonly text: string;
  readonly suffix?: string;
  /** With `suffix`: the prefix of the answer, and files to read before the text. */
  readonly begun?: string;
  readonly files?: readonly { readonly filename: string; readonly text: string }[];
  readonly parseSpecial: boolean;
  readonly addSpecial: boolean;
}

export interface TokenPrompt extends PlainPrompt {
  readonly tokens: readonly number[];
}

/** Several texts, only to be tokenized. */
export interface Texts {
  readonly texts: readonly string[];
  readonly parseSpecial: boolean;
  readonly addSpecial: boolean;
  readonly sampler?: undefined;
}

export type PromptRequest = ChatPrompt | TextPrompt | TokenPrompt;

/** The format of an answer; see svc_prompt_take in shim.h. */
export interface AnswerFormat {
  readonly stops: readonly string[];
  readonly parsed: boolean;
  readonly constrained: boolean;
  readonly unconstrained: boolean;
  readonly preserved: readonly number[];
  readonly thinkingEnds: readonly string[];
}

/** The format of an answer that is plain text. */
export const PLAIN_FORMAT: AnswerFormat = {
  stops: [],
  parsed: false,
  constrained: false,
  unconstrained: false,
  preserved: [],
  thinkingEnds: [],
};

export type PromptResult =
  | {
      readonly job: number;
      /** Empty for a prompt with media. */
      readonly tokens: Int32Array;
      /** The rendered template of a prompt with media. */
      readonly text?: string;
      readonly format: AnswerFormat;
      /** For several texts: the number of tokens of each; they follow one another in `tokens`. */
      readonly lengths?: readonly number[];
      /** Present when the prompt requested a sampler; the receiver of the result must free it. */
      readonly sampler?: SamplerId;
    }
  | ({ readonly job: number } & NativeFailure<LlamaErrorCode>);

/** What an answer gained since the last read; strings are to be appended. See svc_answer_read in shim.h. */
export interface AnswerUpdate {
  readonly reasoning?: string;
  readonly content?: string;
  readonly calls?: readonly {
    readonly index: number;
    readonly name?: string;
    readonly id?: string;
    readonly arguments?: string;
  }[];
  readonly failed?: true;
}

/** Branded so that a sampler slot cannot be mistaken for a sequence id. */
export type SamplerId = number & { readonly __sampler: unique symbol };

/** One decode batch in columns; capacity is the batch size the model was loaded with. */
export interface Batch {
  readonly tokens: Int32Array;
  readonly positions: Int32Array;
  readonly sequences: Int32Array;
  /** Sampler of the row, or -1 where no logits are needed; see svc_decode for rows that score a prompt. */
  readonly samplers: Int32Array;
  /** The request of the row, or 0; the requests of more than half of the rows may abort the computation. */
  readonly owners: Int32Array;
}

/** How a batch is decoded. */
export interface DecodeMode {
  /** Decode steps, each with the tokens that the one before sampled. */
  readonly steps: number;
  /** Whether all rows are computed in one region of a paged cache if possible; see svc_decode. */
  readonly together: boolean;
}

/** Some or all embeddings of a medium, for one sequence. */
export interface Embeddings {
  readonly address: bigint;
  readonly positions: Int32Array;
  readonly count: number;
  readonly sequence: number;
  /** All embeddings attend to each other. */
  readonly nonCausal: boolean;
}

/** Work for the draft model on one of its sequences; see svc_draft in shim.h. */
export interface DraftJob {
  readonly sequence: number;
  /** The sequence is first trimmed to this position. */
  readonly position: number;
  /** Tokens fed to the sequence from that position. */
  readonly tokens: Int32Array;
  /** Maximum number of tokens to draft. */
  readonly count: number;
}

export interface Drafted {
  /** Number of decode calls. */
  readonly rounds: number;
  /**
   * Drafted tokens of each job. Undefined where the draft model lacks a token to be fed: the sequence was only trimmed.
   */
  readonly tokens: readonly (Int32Array | undefined)[];
}

/** How a computation ended; a chunk may also be "paused" with more to compute. See svc_decoded in shim.h. */
export const DECODE_RESULTS = ["done", "no-capacity", "aborted"] as const;
export const CHUNK_RESULTS = [...DECODE_RESULTS, "paused"] as const;
export type DecodeResult = (typeof DECODE_RESULTS)[number];
export type ChunkResult = (typeof CHUNK_RESULTS)[number];

/** The native prompt threads. */
export interface PromptThreads {
  /**
   * Queues a prompt for rendering and tokenizing on the native prompt threads, where clients take turns. Returns the
   * job number. If the prompt's grammar ends the process, the parent process learns its `owner`; 0 for none.
   */
  submitPrompt(request: PromptRequest | Texts, owner?: number, client?: string): number;
  /** Forgets a job; the result of a job that has begun may still arrive. */
  cancelPrompt(job: number): void;
  /** Returns the next finished job, or undefined after `timeoutMs`; blocks the whole thread meanwhile. */
  takePrompt(timeoutMs: number): PromptResult | undefined;
}

export interface Llama extends PromptThreads {
  readonly version: string;
  model(): LoadedModel;
  /**
   * Returns the raw bytes of a token's text; control tokens have text only with `special`. The array is shared: never
   * write to it.
   */
  piece(token: number, special?: boolean): Uint8Array;
  isEnd(token: number): boolean;
  freeSampler(sampler: SamplerId): void;
  /**
   * Returns whether this sampler's answer was cut at its last token, because its grammar allows no other token or takes
   * too long.
   */
  isStuck(sampler: SamplerId): boolean;
  /** Appends a token's text to the answer of a request whose format is `parsed`. */
  pushAnswer(sampler: SamplerId, bytes: Uint8Array): void;
  /** Returns what is new in that answer, if anything. `final`: its text is complete. */
  readAnswer(sampler: SamplerId, final: boolean): AnswerUpdate | undefined;
  /** Returns the last sampled token first, then the alternatives, best first. */
  logprobs(sampler: SamplerId): { readonly token: number; readonly logprob: number }[];
  /**
   * Returns the same for a prompt's own tokens, one list per row that requested it. `rows`: number of such rows since
   * the last call.
   */
  scores(sampler: SamplerId, rows: number): { readonly token: number; readonly logprob: number }[][];
  /**
   * Decodes a batch and samples. `sampled` receives one token per sampled row, in row order. Consecutive rows with one
   * sampler hold draft tokens (see svc_decode): rows after the first wrong draft give -1. With several `steps`,
   * `sampled` receives the rows of each step, and -1 for steps that were not made: decoding stops after a step in
   * which any row ended its turn, or before one that cannot be computed. Throws LlamaError when the computation fails.
   */
  decode(batch: Batch, count: number, mode: DecodeMode, sampled: Int32Array): DecodeResult;
  /**
   * Decodes embeddings of a medium, with the address and the positions that the media library returned. `owner`: the
   * request that may abort it, or 0.
   */
  decodeEmbeddings(embeddings: Embeddings, owner: number): DecodeResult;
  /**
   * Selects the adapters for batches and chunks that begin from now on; with an empty list the model computes alone.
   */
  setAdapters(adapters: readonly AdapterScale[]): void;
  /** Begins a prompt chunk that is computed between the steps of others: see svc_chunk_begin. Ignores samplers. */
  chunkBegin(batch: Batch, count: number): void;
  /**
   * Computes the chunk for about `ms` milliseconds. Unless the result is "paused", the chunk has ended. Throws
   * LlamaError on failure.
   */
  chunkResume(ms: number): ChunkResult;
  /** Ends the chunk, if there is one, and restores the cache to its state before the chunk. */
  chunkAbandon(): void;
  /** Returns the number of threads in use: at most the configured number, fewer while other programs need the cores. */
  computeThreads(): number;
  /** Runs the draft model. Returns undefined when its KV cache is full; the sequences of these jobs are then empty. */
  draft(jobs: readonly DraftJob[]): Drafted | undefined;
  kvRemove(sequence: number, from: number, to: number): boolean;
  /** Releases the memory of a paged sequence's cells except the first `cells`, which must hold all its tokens. */
  kvRelease(sequence: number, cells: number): void;
  /** Replaces the contents of `to` by the first `length` positions of `from`, which take `cells` cells. */
  kvCopy(from: number, to: number, length: number, cells: number): void;
  /** Replaces the contents of `to` by those of `from`, which is empty afterwards. */
  kvMove(from: number, to: number): void;
  /**
   * Returns what a sequence holds at positions [from, to), to be restored later; `to` below 0 means the end. Undefined
   * when there is nothing to save or it cannot be saved; parts can be saved in the unified layout only.
   */
  kvSave(sequence: number, from: number, to: number): Uint8Array | undefined;
  /**
   * Replaces a sequence's contents by saved parts, in order. Returns false when that fails; the sequence is then empty.
   */
  kvRestore(sequence: number, parts: readonly Uint8Array[]): boolean;
}
