// The typed face of the llama shim: what `binding.ts` implements with bun:ffi and a fake implements in tests.

import type { LoadState, LogLine } from "../runtime/library.ts";
import { NativeError, type NativeFailure } from "../runtime/native-error.ts";

/** Why a native call failed; see svc_error in shim.h. */
export const LLAMA_ERRORS = [
  "failed",
  "no-room",
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
 * How sequences lie in the KV cache: all in one piece of memory; each in a share of its own, all equal; or each in a region
 * of its own, which takes memory as it is filled.
 */
type KvLayout = "unified" | "streams" | "paged";

/** See svc_load_start in shim.h. */
export interface LoadConfig {
  readonly path: string;
  readonly context: number;
  readonly parallel: number;
  /** Sequence ids wanted, at least `parallel`; with `streams`, and of some models, it is `parallel`. */
  readonly sequences: number;
  /** How sequences lie in the KV cache. Where `paged` is not to be had, it is `unified`. */
  readonly layout: KvLayout;
  /** Most cells of a paged sequence. */
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
  /** Jinja source in place of the model's own chat template, or "". */
  readonly chatTemplate: string;
  /** LoRA files for this model. */
  readonly adapters: readonly string[];
  /** A draft model; `pMin`: a token that it gives less ends a draft. */
  readonly draft?: { readonly path: string; readonly pMin: number };
  /** Absent: over the GPUs of this machine. */
  readonly spread?: Spread;
}

/** How a model lies over several devices: first those of the workers, in their order, then the GPUs of this machine. */
export interface Spread {
  /** `address:port` of each, known to be there: one that is not ends the process. */
  readonly workers: readonly string[];
  /** `none`: all on the device `mainGpu`. */
  readonly splitMode: "layer" | "row" | "none";
  readonly mainGpu: number;
  /** A share for each device; empty: by free memory. */
  readonly tensorSplit: readonly number[];
}

/** An adapter by its place among those of LoadConfig, and how much of it is added to the model. */
export interface AdapterScale {
  readonly id: number;
  readonly scale: number;
}

/** What there is to know about every kind of model. */
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
  /** Cells that sequences may fill together. */
  readonly context: number;
  readonly contextPerSequence: number;
  readonly layout: KvLayout;
  /** Sequence ids. */
  readonly sequences: number;
  readonly batch: number;
  /** Rows of a chunk of prompts whose computation can be paused; 0 where none can. */
  readonly chunk: number;
  readonly hasChatTemplate: boolean;
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
  /** Bytes of text that a token stands for at most; 0: unknown. */
  readonly longestToken: number;
  /** The tokens of the last few steps can be removed. */
  readonly canRollBack: boolean;
  readonly sampling: Readonly<Partial<Omit<SamplerConfig, "seed">>>;
}

/** See svc_prompt_submit in shim.h. */
export interface SamplerConfig {
  readonly temperature: number;
  readonly topP: number;
  readonly topK: number;
  readonly minP: number;
  readonly typicalP: number;
  readonly topNSigma: number;
  readonly xtcProbability: number;
  readonly xtcThreshold: number;
  readonly dynatempRange: number;
  readonly dynatempExponent: number;
  readonly repetitionPenalty: number;
  readonly repetitionWindow: number;
  readonly presencePenalty: number;
  readonly dryMultiplier: number;
  readonly dryBase: number;
  readonly dryAllowedLength: number;
  readonly dryPenaltyLastN: number;
  readonly drySequenceBreakers: readonly string[];
  readonly mirostat: 0 | 1 | 2;
  readonly mirostatTau: number;
  readonly mirostatEta: number;
  /** Token and what is added to its logit; -Infinity cannot be said in JSON, so -1e9 bans a token. */
  readonly logitBias: readonly (readonly [token: number, bias: number])[];
  readonly seed: number;
  readonly ignoreEos: boolean;
  readonly minTokens: number;
  /** Tokens of reasoning after which its end is forced; -1 is without limit. */
  readonly reasoningBudget: number;
  readonly topLogprobs: number;
}

/** llama.cpp's own defaults, as its command line has them. */
export const SAMPLER_DEFAULTS: Omit<SamplerConfig, "seed"> = {
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
  drySequenceBreakers: ["\n", ":", '"', "*"],
  mirostat: 0,
  mirostatTau: 5,
  mirostatEta: 0.1,
  logitBias: [],
  ignoreEos: false,
  minTokens: 0,
  reasoningBudget: -1,
  topLogprobs: -1,
};

/** A conversation for the model's chat template; messages and tools have the shapes of OpenAI's chat API. */
export interface ChatPrompt {
  readonly messages: readonly object[];
  readonly tools: readonly object[];
  /** Of each tool, the schema that its arguments are held to; the model reads those in `tools`. */
  readonly enforced: readonly object[];
  /** How many of the last tools the messages themselves describe: they may be called and are not in the rendered list. */
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
  /** Absent: as the template does by itself. */
  readonly enableThinking?: boolean;
  /** The last message is the beginning of the answer. */
  readonly continueLast: boolean;
  /** False: the prompt ends behind the last message. */
  readonly generationPrompt: boolean;
  /** Some parts are media: the rendered text is wanted, its tokens are not. */
  readonly media: boolean;
  readonly sampler: SamplerConfig;
}

/** Text or tokens, as no chat template is about them. */
interface PlainPrompt {
  /** Log probabilities of its own tokens are wanted. */
  readonly score?: true;
  readonly schema?: unknown;
  readonly grammar?: string;
  readonly sampler?: SamplerConfig;
}

/** Text to continue, or with `suffix` a gap to fill. */
export interface TextPrompt extends PlainPrompt {
  readonly text: string;
  readonly suffix?: string;
  /** With `suffix`: what the answer begins with, and what is read before the text. */
  readonly begun?: string;
  readonly files?: readonly { readonly filename: string; readonly text: string }[];
  readonly parseSpecial: boolean;
  readonly addSpecial: boolean;
}

export interface TokenPrompt extends PlainPrompt {
  readonly tokens: readonly number[];
}

export type PromptRequest = ChatPrompt | TextPrompt | TokenPrompt;

/** How an answer is written; see svc_prompt_take in shim.h. */
export interface AnswerFormat {
  readonly stops: readonly string[];
  readonly parsed: boolean;
  readonly constrained: boolean;
  readonly unconstrained: boolean;
  readonly preserved: readonly number[];
  readonly thinkingEnds: readonly string[];
}

/** The answer is its text. */
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
      /** Of a prompt with a sampler; to be freed by whoever takes the result. */
      readonly sampler?: SamplerId;
    }
  | ({ readonly job: number } & NativeFailure<LlamaErrorCode>);

/** What an answer has more than at the last look; strings are to be appended. See svc_answer_read in shim.h. */
export interface AnswerNews {
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
  /** Sampler of the row, or -1 where no logits are wanted. */
  readonly samplers: Int32Array;
}

/** Some or all embeddings of a medium, for one sequence. */
export interface Embeddings {
  readonly address: bigint;
  readonly positions: Int32Array;
  readonly count: number;
  readonly sequence: number;
  /** All of them attend to each other. */
  readonly nonCausal: boolean;
}

/** What the draft model is to do with one of its sequences; see svc_draft in shim.h. */
export interface DraftJob {
  readonly sequence: number;
  /** What the sequence holds from here on is forgotten. */
  readonly position: number;
  /** Fed to it from there. */
  readonly tokens: Int32Array;
  /** Tokens wanted, at most. */
  readonly count: number;
}

export interface Drafted {
  /** Decode calls. */
  readonly rounds: number;
  /** Of each job; undefined where the draft model lacks a token that it was to be fed: its sequence was only cut. */
  readonly tokens: readonly (Int32Array | undefined)[];
}

/** As the owner of a batch: any request's abort may stop it. */
export const ANY_OWNER = -1;

/** How a computation ended, and of a chunk, whether there is more to compute; see svc_decoded in shim.h. */
export const DECODE_RESULTS = ["done", "no-room", "aborted"] as const;
export const CHUNK_RESULTS = [...DECODE_RESULTS, "paused"] as const;
export type DecodeResult = (typeof DECODE_RESULTS)[number];
export type ChunkResult = (typeof CHUNK_RESULTS)[number];

export interface Llama {
  readonly version: string;
  loadStart(config: LoadConfig): void;
  loadPoll(): LoadState;
  model(): LoadedModel;
  /**
   * Queues rendering and tokenizing on the native prompt threads, where clients take turns; returns the job number. Should
   * its grammar end the process, the parent process learns its `owner`; 0: none.
   */
  submitPrompt(request: PromptRequest, owner?: number, client?: string): number;
  /** Forgets a job; the result of one that has begun may still come. */
  cancelPrompt(job: number): void;
  /** The next finished job, waiting up to `timeoutMs` (the whole thread waits), or undefined. */
  takePrompt(timeoutMs: number): PromptResult | undefined;
  /** Raw bytes of a token's text; control tokens have some only when `special`. The array is shared: do not write to it. */
  piece(token: number, special?: boolean): Uint8Array;
  isEnd(token: number): boolean;
  freeSampler(sampler: SamplerId): void;
  /** The answer of this sampler was cut at its last token: its grammar allows no other, or takes too long. */
  isStuck(sampler: SamplerId): boolean;
  /** Appends a token's text to the answer of a request whose format is `parsed`. */
  pushAnswer(sampler: SamplerId, bytes: Uint8Array): void;
  /** What is new in that answer, if anything. `final`: its text is complete. */
  readAnswer(sampler: SamplerId, final: boolean): AnswerNews | undefined;
  /** The last sampled token first, then the alternatives, best first. */
  logprobs(sampler: SamplerId): { readonly token: number; readonly logprob: number }[];
  /** The same of a prompt's own tokens, for each of the last steps' rows that wanted it: so many since they were taken last. */
  scores(sampler: SamplerId, rows: number): { readonly token: number; readonly logprob: number }[][];
  /**
   * Throws LlamaError when the computation fails. `sampled` receives one token a sampled row, in row order. Rows that follow
   * each other with one sampler hold draft tokens (see svc_decode): -1 behind the first wrong one. With several `steps` it
   * receives the rows of each, -1 for steps that were not made: the last one made is where the first row ended its turn.
   */
  decode(batch: Batch, count: number, owner: number, steps: number, sampled: Int32Array): DecodeResult;
  /** Decodes embeddings of a medium, from the address and with the positions that the media library gives. */
  decodeEmbeddings(embeddings: Embeddings, owner: number): DecodeResult;
  /** What is decoded, and chunks that begin, from here on are computed with these adapters; with none, by the model alone. */
  setAdapters(adapters: readonly AdapterScale[]): void;
  /** Begins a chunk of prompts that is computed beside others' steps: see svc_chunk_begin. Samplers are not looked at. */
  chunkBegin(batch: Batch, count: number): void;
  /** Computes it for about `ms`. Unless it says "paused", the chunk has ended. Throws LlamaError when that fails. */
  chunkResume(owner: number, ms: number): ChunkResult;
  /** Ends the chunk, if there is one: the cache is then as before it. */
  chunkAbandon(): void;
  /** Threads that compute at this moment: at most those of the configuration, fewer while other programs want the cores. */
  computeThreads(): number;
  /** Lets the draft model write on; undefined when it has no room: the sequences of these jobs are empty then. */
  draft(jobs: readonly DraftJob[]): Drafted | undefined;
  listenForAborts(fd: number): void;
  kvRemove(sequence: number, from: number, to: number): boolean;
  /** Gives back the memory of a paged sequence's cells but the first `cells`, which hold all its tokens. */
  kvGiveBack(sequence: number, cells: number): void;
  /** Makes the first `length` positions of one sequence, in so many cells, all of another. */
  kvCopy(from: number, to: number, length: number, cells: number): void;
  /**
   * What a sequence holds at positions [from, to), to be restored later; `to` below 0 is to the end. Undefined when that is
   * nothing or cannot be saved; parts can in the unified layout only.
   */
  kvSave(sequence: number, from: number, to: number): Uint8Array | undefined;
  /** Makes what was saved, part by part, all of a sequence. False when that is not possible: it is empty then. */
  kvRestore(sequence: number, parts: readonly Uint8Array[]): boolean;
  kvClear(): void;
  /** Log lines since the last call. */
  drainLog(): LogLine[];
}
