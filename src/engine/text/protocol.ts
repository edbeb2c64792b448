// What a text engine is started with, is requested to do, and answers: the types behind the messages of `process/protocol`.

import type { Spread } from "../../../ffi/llama/api.ts";
import type { FileIdentity } from "../../domain/file-identity.ts";
import type { FinishEvent, GenerateEvent, GenerateRequest, TokenIds } from "../../domain/generate.ts";
import type { KvLayout } from "../../domain/kv-layout.ts";
import { contentOf, withContent } from "../../domain/media.ts";
import type { ModelInfo } from "../../domain/model.ts";
import type { PromptLimits } from "../../domain/prompt-size.ts";
import type { SlotAction, SlotOutcome } from "../../domain/slots.ts";
import type { StepCounts } from "../../domain/steps.ts";
import type { Waiting } from "../../domain/waiting.ts";
import type { ComputeOptions } from "../process/kind.ts";
import type { FromEngine, JobEnd, JobOutput } from "../process/protocol.ts";
import type { KvStats } from "./kv-stats.ts";
import type { TokenizeOptions } from "./port.ts";

/** How a model lies over the devices of workers and the GPUs of this machine, in this order. */
export interface ModelSpread extends Omit<Spread, "workers"> {
  readonly workers: readonly {
    /** As the operator named it. */
    readonly name: string;
    /** `address:port`; it was there a moment ago. */
    readonly endpoint: string;
  }[];
}

/** How the engine process is to load and serve its model; every field is decided by the front process. */
export interface EngineOptions extends ComputeOptions {
  readonly modelPath: string;
  /** Projector for images or sound; absent: the model takes text alone. */
  readonly mmprojPath?: string;
  /** LoRA files that are loaded with the model; requests choose among them by their place. */
  readonly adapterPaths: readonly string[];
  /** Tokens in the KV cache. */
  readonly context: number;
  /** Largest prompt plus output of one request. */
  readonly maxModelLen: number;
  /** Whether requests drop their older tokens where that is full, and go on. */
  readonly contextShift: boolean;
  /** Prompt tokens that may wait; one request may wait, however long. */
  readonly maxQueueTokens: number;
  readonly parallel: number;
  /** Where a paged cache is not to be had, it is unified. */
  readonly kvMode: KvLayout;
  /** Whether prefixes of finished requests are kept for later ones. */
  readonly prefixCache: boolean;
  /** Whether tokens are decoded speculatively: by prompt lookup, and by the draft model. */
  readonly speculation: boolean;
  /** A small model that drafts for the large one; only with `speculation`. */
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
  /** Absent: over the GPUs of this machine. */
  readonly spread?: ModelSpread;
  /** Bytes that a token takes in the KV cache. */
  readonly kvTokenBytes: number;
  /** Host memory for what has to leave the KV cache. */
  readonly cacheRamBytes: number;
  /** Folder for what leaves host memory too, and the bytes that it may take; absent: none. */
  readonly kvDir?: { readonly path: string; readonly limitBytes: number };
  /** Folder for slots that are saved; absent: there are no slots. */
  readonly slotDir?: string;
  /** With either folder: what the states in files are of. */
  readonly kvOrigin?: KvOrigin;
  readonly batch: number;
  readonly microBatch: number;
  /** Longest pause that another request's prefill may cause in a running stream, in milliseconds. */
  readonly stallBudgetMs: number;
  /** Jinja source in place of the model's own chat template, or "". */
  readonly chatTemplate: string;
  /** Whether schemas, forced tools and grammars are enforced while sampling. */
  readonly constrain: boolean;
  /** Decisions about requests are logged. */
  readonly logsDecisions?: true;
  /** File that the timeline is appended to. */
  readonly traceFile?: string;
  /** Sampling defaults from flags; they win over the model file's own. */
  readonly sampling: GenerateRequest["sampling"];
}

/** The files that a state in the KV cache depends on. */
export interface KvOrigin {
  readonly model: FileIdentity;
  readonly projector?: FileIdentity;
  /** In the order of `adapterPaths`. */
  readonly adapterHashes: readonly string[];
}

/** What loading found out about the model; the name is the front process's. */
export interface TextReady {
  readonly model: Omit<ModelInfo, "id" | "created">;
  readonly limits?: PromptLimits;
  /** What an earlier process left, where there is a place for it. */
  readonly onDisk?: OnDisk;
}

/** What was found on disk: conversations, the tokens of all, and damaged files that were removed. */
export interface OnDisk {
  readonly conversations: number;
  readonly tokens: number;
  readonly damaged: number;
}

export type TextJob =
  | { readonly type: "generate"; readonly request: GenerateRequest }
  /** How many tokens the request's prompt has, in digits: the tokens themselves may be 30 MB. */
  | { readonly type: "count"; readonly request: GenerateRequest }
  /** The text of the request's prompt. */
  | { readonly type: "render"; readonly request: GenerateRequest }
  /** The text of tokens; `apart`: a JSON list of their pieces, text or bytes each. */
  | { readonly type: "detokenize"; readonly tokens: TokenIds; readonly apart?: true }
  | { readonly type: "slot"; readonly action: SlotAction }
  | ({ readonly type: "tokenize"; readonly text: string } & TokenizeOptions);

/** What is sent beside a job: its images and sounds, which are large. */
export const contentsOf = (job: TextJob): Uint8Array[] =>
  "request" in job ? (job.request.media ?? []).map(contentOf) : [];

/** The job with these contents; one that is left out is empty. */
export function withContents(job: TextJob, contents: readonly Uint8Array[]): TextJob {
  if (!("request" in job) || !job.request.media) return job;
  const media = job.request.media.map((medium, at) => withContent(medium, contents[at] ?? new Uint8Array()));
  return { ...job, request: { ...job.request, media } };
}

/** The job with its token ids as they are sent. */
export function withTokens(job: TextJob): TextJob {
  if (job.type === "detokenize") return { ...job, tokens: Int32Array.from(job.tokens) };
  if (!("request" in job) || typeof job.request.prompt !== "object") return job;
  return { ...job, request: { ...job.request, prompt: Int32Array.from(job.request.prompt) } };
}

/** What a job comes to that is no generation. */
export type AnswerValue = Int32Array | string | SlotOutcome;

/** The only event of a job that is no generation. */
interface AnswerEvent {
  readonly type: "answer";
  readonly answer: AnswerValue;
}

export type TextEvent = GenerateEvent | AnswerEvent;

/** `levels` come with every message about jobs, `steps` about once a second. */
export interface TextReport {
  readonly levels?: Levels;
  /** Decode calls since the last report of them. */
  readonly steps?: StepCounts;
}

/** The scheduler's levels after what a message tells. */
export interface Levels {
  /** Requests that hold a sequence. */
  readonly running: number;
  /** Requests accepted and waiting for a sequence or for free KV cells. */
  readonly waiting: number;
  /** The same by what they wait for. */
  readonly waitingFor: Waiting;
  readonly kv: KvStats;
  /** Milliseconds until a running request is expected to end; absent while a sequence is free. */
  readonly placeFreeMs?: number;
}

export type FromTextEngine = FromEngine<TextReady, TextEvent, TextReport>;
export type StepOutput = JobOutput<TextEvent>;
export type StepFinish = JobEnd<FinishEvent>;
