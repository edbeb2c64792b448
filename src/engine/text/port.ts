// What services may ask of an engine. `host.ts` answers over IPC, `fake.ts` in memory, gateways over HTTP.

import type { OfferedAdapter } from "../../domain/adapters.ts";
import { SvcError } from "../../domain/errors.ts";
import type { EngineEvent, GenerateRequest } from "../../domain/generate.ts";
import type { ModelInfo } from "../../domain/model.ts";
import type { StepCounts } from "../../domain/steps.ts";
import { nobodyWaits, type Waiting } from "../../domain/waiting.ts";

/** `none`: there is no engine, only other servers' models are served. */
export type EngineState = "none" | "starting" | "loading" | "ready" | "draining" | "stopped" | "failed";

export interface EngineStatus {
  readonly state: EngineState;
  /** The name clients see, known from the start. */
  readonly modelId: string;
  /** Unix seconds of the model file's last change, known from the start. */
  readonly modelCreated: number;
  /** LoRA adapters that requests may choose, known from the start. */
  readonly adapters: readonly OfferedAdapter[];
  /** The model, once loaded; kept through a restart. */
  readonly model?: ModelInfo;
  /** Share of the weights loaded, 0 to 1, while `loading`. */
  readonly progress?: number;
  /** One sentence about the last failure: what happened and how the process ended. */
  readonly lastError?: string;
  /** Engine processes started after the first. */
  readonly restarts: number;
  readonly stats: EngineStats;
  /** Decode calls since the first engine process started, as told about once a second. */
  readonly steps: StepCounts;
}

/** Levels at the last step the engine reported. All zero when nothing is in the engine. */
export interface EngineStats {
  /** Requests that hold a sequence. */
  readonly running: number;
  /** Requests accepted and waiting for a sequence or for room in the KV cache. */
  readonly waiting: number;
  /** The same by what they wait for. */
  readonly waitingFor: Waiting;
  /** KV cells of running requests, those kept of finished ones, and all that there are. */
  readonly kvUsed: number;
  readonly kvCached: number;
  /** Tokens in host memory, moved there from the KV cache. */
  readonly kvSaved: number;
  /** Tokens on disk, moved there from host memory, by this process or an earlier one. */
  readonly kvDisk: number;
  readonly kvTotal: number;
  /** Cumulative counts since the first engine process started. */
  readonly steps: number;
  readonly preemptions: number;
  /** Tokens kept of finished requests that had to make room. */
  readonly evictedTokens: number;
  /** Tokens that were moved to host memory. */
  readonly spilledTokens: number;
  /** Tokens that came back from host memory. */
  readonly restoredTokens: number;
  /** Tokens that went to disk, came back from there, and were lost to errors or for lack of room. */
  readonly diskWrittenTokens: number;
  readonly diskRestoredTokens: number;
  readonly diskFailedTokens: number;
  readonly residentBytes: number;
  /** Milliseconds until a running request is expected to end; absent while a sequence is free. */
  readonly placeFreeMs?: number;
}

/** The levels of an engine that computes nothing here. */
export const noStats: EngineStats = {
  running: 0,
  waiting: 0,
  waitingFor: nobodyWaits,
  kvUsed: 0,
  kvCached: 0,
  kvSaved: 0,
  kvDisk: 0,
  kvTotal: 0,
  steps: 0,
  preemptions: 0,
  evictedTokens: 0,
  spilledTokens: 0,
  restoredTokens: 0,
  diskWrittenTokens: 0,
  diskRestoredTokens: 0,
  diskFailedTokens: 0,
  residentBytes: 0,
};

export interface EnginePort {
  status(): EngineStatus;
  /**
   * Runs one generation. The first event is always `accepted` and the last `finish`; `started` comes between, before any
   * output, where anything is computed. Failures throw `SvcError`.
   * Aborting `signal` drops the request: no further event comes, and its work stops within 250 ms.
   * While the engine is loading or restarting, requests wait for it.
   */
  generate(request: GenerateRequest, signal: AbortSignal): AsyncIterable<EngineEvent>;
  /** Ends a generation early: its stream finishes with reason `cancelled`. Unknown ids are ignored. */
  cancel(id: string): void;
  /** Token ids of `text` by the model's own tokenizer, special tokens in the text not parsed. */
  tokenize(text: string, signal: AbortSignal): Promise<Int32Array>;
  /** Length of the prompt of a request, in tokens: rendered by the model's own template, media included. */
  countTokens(request: GenerateRequest, signal: AbortSignal): Promise<number>;
  /** The text of token ids, control tokens written out. Throws SvcError `invalid_value` about an id that is no token. */
  detokenize(tokens: readonly number[], signal: AbortSignal): Promise<string>;
  /** The prompt of a request as text, by the model's own template. */
  render(request: GenerateRequest, signal: AbortSignal): Promise<string>;
  /** Stops accepting, ends the process; resolves when it is gone. */
  stop(): Promise<void>;
}

/** What an engine says whose model has no tokenizer within reach: each call throws SvcError `tokenize_unsupported`. */
export abstract class WithoutTokenizer implements Pick<
  EnginePort,
  "tokenize" | "countTokens" | "detokenize" | "render"
> {
  /** Why there is none, for the client; `param`: the field of the request that chose this model. */
  protected abstract readonly noTokenizer: { readonly message: string; readonly param?: string };

  tokenize(): Promise<never> {
    return this.refuse();
  }

  countTokens(): Promise<never> {
    return this.refuse();
  }

  detokenize(): Promise<never> {
    return this.refuse();
  }

  render(): Promise<never> {
    return this.refuse();
  }

  private refuse(): Promise<never> {
    const { message, param } = this.noTokenizer;
    return Promise.reject(new SvcError("tokenize_unsupported", message, param === undefined ? {} : { param }));
  }
}
