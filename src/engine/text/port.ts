// What services may request of a text engine. `text-engine.ts` answers in a process of its own, gateways over HTTP, and
// `test/support/fake-text-engine.ts` in memory.

import type { OfferedAdapter } from "../../domain/adapters.ts";
import type { CancelCause } from "../../domain/cancel.ts";
import { SvcError } from "../../domain/errors.ts";
import type { EngineEvent, GenerateRequest, TokenIds } from "../../domain/generate.ts";
import type { ModelInfo } from "../../domain/model.ts";
import type { SlotAction, SlotOutcome } from "../../domain/slots.ts";
import type { ModelStatus } from "../../domain/process-status.ts";

export interface TextStatus extends ModelStatus {
  /** What its makers call it, where its file says so, known from the start. */
  readonly modelName?: string;
  /** LoRA adapters that requests may choose, known from the start but for their scales. */
  readonly adapters: readonly OfferedAdapter[];
  /** The model, once loaded; kept through a restart. */
  readonly model?: ModelInfo;
}

export interface TokenizeOptions {
  /** Tokens that begin and end a text are put around it, where the model wants that. Default false. */
  readonly addSpecial?: boolean;
  /** Special tokens that are written out in the text count as such. Default false. */
  readonly parseSpecial?: boolean;
}

export type TokenPiece = string | readonly number[];

export interface TextPort {
  status(): TextStatus;
  /** Milliseconds until a running request is expected to end; absent: a sequence is free, or nobody knows. */
  placeFreeMs?(): number | undefined;
  /**
   * Runs one generation. The first event is always `accepted` and the last `finish`; `started` comes between, before any
   * output, where anything is computed. Failures throw `SvcError`, at the call already or when the first event is wanted.
   * Aborting `signal` drops the request: no further event comes, and its work stops within 250 ms.
   * While the engine is loading or restarting, requests wait for it.
   */
  generate(request: GenerateRequest, signal: AbortSignal): AsyncIterable<EngineEvent>;
  /** Ends a generation early: its stream finishes, for the reason that the cause comes to. Unknown ids are ignored. */
  cancel(id: string, cause: CancelCause): void;
  /** Token ids of `text` by the model's own tokenizer. */
  tokenize(text: string, signal: AbortSignal, options?: TokenizeOptions): Promise<Int32Array>;
  /** Length of the prompt of a request, in tokens: rendered by the model's own template, media included. */
  countTokens(request: GenerateRequest, signal: AbortSignal): Promise<number>;
  /** The text of token ids, control tokens written out. Throws SvcError `invalid_value` about an id that is no token. */
  detokenize(tokens: TokenIds, signal: AbortSignal): Promise<string>;
  /** The text of each token by itself, its bytes where these are no UTF-8. Throws as `detokenize` does. */
  pieces(tokens: readonly number[], signal: AbortSignal): Promise<readonly TokenPiece[]>;
  /** The prompt of a request as text, by the model's own template. */
  render(request: GenerateRequest, signal: AbortSignal): Promise<string>;
  /** How much of each of its adapters requests get that choose none, in their order. */
  scaleAdapters?(scales: readonly number[]): void;
  /**
   * Saves, restores or erases a slot; absent: there are no slots. Throws SvcError `invalid_value` about a file that cannot be
   * restored, `storage_full`, `storage_unavailable` or `server_busy`.
   */
  slot?(action: SlotAction, signal: AbortSignal): Promise<SlotOutcome>;
}

/** The failure of a model that has no tokenizer within reach; `param`: the field of the request that chose the model. */
export const noTokenizer = (message: string, param?: string): SvcError =>
  new SvcError("tokenize_unsupported", message, param === undefined ? {} : { param });

/** A text engine whose model has no tokenizer within reach: each of these calls throws SvcError `tokenize_unsupported`. */
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
