// What services may request of a text engine. Implemented by `text-engine.ts` in a process of its own, by gateways over
// HTTP, and by `test/support/fake-text-engine.ts` in memory.

import type { OfferedAdapter } from "../../domain/adapters.ts";
import type { CancelCause } from "../../domain/cancel.ts";
import { SvcError } from "../../domain/errors.ts";
import type { EngineEvent, GenerateRequest, TokenIds } from "../../domain/generate.ts";
import type { ModelInfo } from "../../domain/model.ts";
import type { SlotAction, SlotOutcome } from "../../domain/slots.ts";
import type { ModelStatus, Unloadable } from "../../domain/process-status.ts";

export interface TextStatus extends ModelStatus {
  /** The maker's name of the model, if its file states it; known from the start. */
  readonly modelName?: string;
  /** What the model can probably do, by its files; known from the start. */
  readonly expected?: Pick<ModelInfo, "template" | "vision" | "audio">;
  /** LoRA adapters that requests may choose; all but their scales are known from the start. */
  readonly adapters: readonly OfferedAdapter[];
  /** The model, once loaded; kept across restarts. */
  readonly model?: ModelInfo;
}

export interface TokenizeOptions {
  /** Adds the tokens that begin and end a text, if the model uses them. Default false. */
  readonly addSpecial?: boolean;
  /** Reads special tokens that are spelled out in the text as such. Default false. */
  readonly parseSpecial?: boolean;
  /** Whose text this is; texts of one client wait for one another. */
  readonly client?: string | undefined;
}

export type TokenPiece = string | readonly number[];

export interface TextPort extends Unloadable {
  status(): TextStatus;
  /** Returns milliseconds until a running request is expected to end; undefined if a sequence is free or unknown. */
  placeFreeMs?(): number | undefined;
  /**
   * Runs one generation. The first event is always `accepted` and the last `finish`; `started` comes between, before
   * any output, if anything is computed. Throws `SvcError`, either at the call or when the first event is requested.
   * Aborting `signal` drops the request: no further event comes, and its work stops within 250 ms. While the engine is
   * loading or restarting, requests wait for it.
   */
  generate(request: GenerateRequest, signal: AbortSignal): AsyncIterable<EngineEvent>;
  /**
   * Ends a generation early: its stream finishes with the reason for that cause. Returns false when none of this id is
   * left, also if the last events of one that is complete are still unread.
   */
  cancel(id: string, cause: CancelCause): boolean;
  /** Returns the token ids of `text` by the model's own tokenizer. */
  tokenize(text: string, signal: AbortSignal, options?: TokenizeOptions): Promise<Int32Array>;
  /** Returns the length of a request's prompt in tokens, rendered by the model's own template and including media. */
  countTokens(request: GenerateRequest, signal: AbortSignal): Promise<number>;
  /** Returns the text of token ids, control tokens spelled out. Throws SvcError `invalid_value` about unknown ids. */
  detokenize(tokens: TokenIds, signal: AbortSignal): Promise<string>;
  /** Returns the text of each token separately, or its bytes if not valid UTF-8. Throws as `detokenize` does. */
  pieces(tokens: TokenIds, signal: AbortSignal): Promise<readonly TokenPiece[]>;
  /** Returns a request's prompt as text, rendered by the model's own template. */
  render(request: GenerateRequest, signal: AbortSignal): Promise<string>;
  /** Sets the scale of each adapter, in order, for requests that choose none. */
  scaleAdapters?(scales: readonly number[]): void;
  /**
   * Saves, restores or erases a slot; absent if there are no slots. Throws SvcError `invalid_value` about a file that
   * cannot be restored, `storage_full`, `storage_unavailable` or `server_busy`.
   */
  slot?(action: SlotAction, signal: AbortSignal): Promise<SlotOutcome>;
}

/** Returns the error for a model without an available tokenizer; `param`: the request's field that chose the model. */
export const noTokenizer = (message: string, param?: string): SvcError =>
  new SvcError("tokenize_unsupported", message, param === undefined ? {} : { param });

/** A text engine whose model has no available tokenizer: each of these calls throws SvcError `tokenize_unsupported`. */
export abstract class WithoutTokenizer implements Pick<
  TextPort,
  "tokenize" | "countTokens" | "detokenize" | "pieces" | "render"
> {
  protected abstract readonly noTokenizer: SvcError;

  tokenize = (): Promise<never> => Promise.reject(this.noTokenizer);
  countTokens = (): Promise<never> => Promise.reject(this.noTokenizer);
  detokenize = (): Promise<never> => Promise.reject(this.noTokenizer);
  pieces = (): Promise<never> => Promise.reject(this.noTokenizer);
  render = (): Promise<never> => Promise.reject(this.noTokenizer);
}
