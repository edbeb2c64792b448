// The types that fill in `process/protocol` for text engines: start options, jobs and answers.

import type { Spread } from "../../../ffi/llama/api.ts";
import type { FileIdentity } from "../../domain/file-identity.ts";
import type { FinishEvent, GenerateEvent, GenerateRequest, OutputEvent, TokenIds } from "../../domain/generate.ts";
import type { KvLayout } from "../../domain/kv-layout.ts";
import { contentOf, withContent } from "../../domain/media.ts";
import type { ModelInfo } from "../../domain/model.ts";
import type { PromptLimits } from "../../domain/prompt-size.ts";
import type { SlotAction, SlotOutcome } from "../../domain/slots.ts";
import type { StepCounts } from "../../domain/steps.ts";
import type { PromptLogprob } from "../../domain/usage.ts";
import type { Waiting } from "../../domain/waiting.ts";
import type { ComputeOptions } from "../process/kind.ts";
import type { FromEngine, JobEnd, JobOutput } from "../process/protocol.ts";
import type { KvStats } from "./kv-stats.ts";
import type { TokenizeOptions } from "./port.ts";

/** How a model is spread over the devices of workers and the GPUs of this machine, in this order. */
export interface ModelSpread extends Omit<Spread, "workers"> {
  readonly workers: readonly {
    /** The operator's name for it. */
    readonly name: string;
    /** `address:port`; it answered a moment ago. */
    readonly endpoint: string;
  }[];
}

/** How the engine process must load and serve its model; the front process decides every field. */
export interface EngineOptions extends ComputeOptions {
  readonly modelPath: string;
  /** Projector for images or sound; absent: the model takes only text. */
  readonly mmprojPath?: string;
  /** LoRA files that are loaded with the model; requests choose among them by index. */
  readonly adapterPaths: readonly string[];
  /** Tokens in the KV cache. */
  readonly context: number;
  /** Most tokens of one request: prompt plus output. */
  readonly maxModelLen: number;
  /** Whether requests drop their older tokens when `maxModelLen` is reached, and continue. */
  readonly contextShift: boolean;
  /** Most prompt tokens that may wait; a single request may wait however long it is. */
  readonly maxQueueTokens: number;
  readonly parallel: number;
  /** Where a paged cache is not possible, the cache is unified. */
  readonly kvMode: KvLayout;
  /** Whether prefixes of finished requests are kept for later ones. */
  readonly prefixCache: boolean;
  /** Whether tokens are decoded speculatively: by prompt lookup, and by the draft model. */
  readonly speculation: boolean;
  /** A small model that drafts speculative tokens; only with `speculation`. */
  readonly draft?: {
    readonly path: string;
    /** Most tokens of a draft. */
    readonly max: number;
    /** A token to which the draft model gives a lower probability ends the draft. */
    readonly pMin: number;
    /** Whether drafts are only as long as they pay off; else always `max`. */
    readonly adaptive: boolean;
  };
  readonly kvType: string;
  /** Absent: over the GPUs of this machine. */
  readonly spread?: ModelSpread;
  /** Whether GPUs of this machine have some of its layers, and the CPU the others. */
  readonly isDivided?: true;
  /** Bytes that a token takes in the KV cache. */
  readonly kvTokenBytes: number;
  /** Bytes of host memory for what is offloaded from the KV cache. */
  readonly cacheRamBytes: number;
  /** Folder and byte limit of the disk cache, for what host memory cannot hold either; absent: no disk cache. */
  readonly kvDir?: { readonly path: string; readonly limitBytes: number };
  /** Folder for saved slots; absent: there are no slots. */
  readonly slotDir?: string;
  /** Set with either folder: the files that the stored states depend on. */
  readonly kvOrigin?: KvOrigin;
  readonly batch: number;
  readonly microBatch: number;
  /** Longest pause that another request's prefill may cause in a running stream, in milliseconds. */
  readonly stallBudgetMs: number;
  /** Jinja source used instead of the model's own chat template, or "". */
  readonly chatTemplate: string;
  /** Whether schemas, forced tools and grammars are enforced while sampling. */
  readonly constrain: boolean;
  /** Whether decisions about requests are logged. */
  readonly logsDecisions?: true;
  /** File to which the timeline is appended. */
  readonly traceFile?: string;
  /** Sampling defaults from flags; they override the model file's own. */
  readonly sampling: GenerateRequest["sampling"];
}

/** The files that a state in the KV cache depends on. */
export interface KvOrigin {
  readonly model: FileIdentity;
  readonly projector?: FileIdentity;
  /** Hashes of the adapters, in the order of `adapterPaths`. */
  readonly adapterHashes: readonly string[];
}

/** What loading found out about the model; its id and time come from the front process. */
export interface TextReady {
  readonly model: Omit<ModelInfo, "id" | "created">;
  readonly limits?: PromptLimits;
  /** What earlier processes left in the disk cache; absent without one. */
  readonly onDisk?: OnDisk;
}

/** What was found on disk: conversations, their tokens in total, and how many damaged files were removed. */
export interface OnDisk {
  readonly conversations: number;
  readonly tokens: number;
  readonly damaged: number;
}

export type TextJob =
  | { readonly type: "generate"; readonly request: GenerateRequest }
  /** The number of tokens in the request's prompt, as digits: the tokens themselves may be 30 MB. */
  | { readonly type: "count"; readonly request: GenerateRequest }
  /** The text of the request's prompt. */
  | { readonly type: "render"; readonly request: GenerateRequest }
  /** The text of tokens; `apart`: a JSON list with the text or bytes of each. */
  | { readonly type: "detokenize"; readonly tokens: TokenIds; readonly apart?: true }
  | { readonly type: "slot"; readonly action: SlotAction }
  | ({ readonly type: "tokenize"; readonly text: string } & TokenizeOptions);

/** Returns what is sent beside a job: its images and sounds, which are large. */
export const contentsOf = (job: TextJob): Uint8Array[] =>
  "request" in job ? (job.request.media ?? []).map(contentOf) : [];

/** Returns the job with these contents; a missing content becomes empty. */
export function withContents(job: TextJob, contents: readonly Uint8Array[]): TextJob {
  if (!("request" in job) || !job.request.media) return job;
  const media = job.request.media.map((medium, at) => withContent(medium, contents[at] ?? new Uint8Array()));
  return { ...job, request: { ...job.request, media } };
}

/** Returns the job without its images and sounds, which are sent beside it. */
export const withoutContents = (job: TextJob): TextJob => withContents(job, []);

/** Returns the job with its token ids as typed arrays, the form in which they are sent. */
export function withTokens(job: TextJob): TextJob {
  if (job.type === "detokenize") return { ...job, tokens: Int32Array.from(job.tokens) };
  if (!("request" in job) || typeof job.request.prompt !== "object") return job;
  return { ...job, request: { ...job.request, prompt: Int32Array.from(job.request.prompt) } };
}

/** The result of a job that generates nothing. */
export type AnswerValue = Int32Array | string | SlotOutcome;

/** The only event of a job that generates nothing. */
interface AnswerEvent {
  readonly type: "answer";
  readonly answer: AnswerValue;
}

/**
 * Log probabilities of the prompt's tokens from this index on, if requested. Each step sends its own, because those of a
 * whole prompt in one message would stall all streams. A prompt that is computed again is also scored again.
 */
export interface ScoredEvent {
  readonly type: "scored";
  readonly from: number;
  readonly tokens: readonly PromptLogprob[];
}

/** What a step may bring of an answer. */
export type StepEvent = OutputEvent | ScoredEvent;

export type TextEvent = GenerateEvent | ScoredEvent | AnswerEvent;

/** `levels` come with every message about jobs, `steps` about once a second. */
export interface TextReport {
  readonly levels?: Levels;
  /** Decode calls since the last such report. */
  readonly steps?: StepCounts;
}

/** The scheduler's levels after the events of a message. */
export interface Levels {
  /** Requests that hold a sequence. */
  readonly running: number;
  /** Requests accepted and waiting for a sequence or for free KV cells. */
  readonly waiting: number;
  /** The waiting requests by what they wait for. */
  readonly waitingFor: Waiting;
  readonly kv: KvStats;
  /** Milliseconds until a running request is expected to end; absent while a sequence is free. */
  readonly placeFreeMs?: number;
}

export type FromTextEngine = FromEngine<TextReady, TextEvent, TextReport>;
export type StepOutput = JobOutput<TextEvent>;
export type StepFinish = JobEnd<FinishEvent>;
