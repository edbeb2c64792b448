// What every dialect's stream is told, and what those of named events are made of.

/** What a stream needs to know about its request. */
export interface StreamContext {
  /** Correlation id, told in the error of a stream that fails. */
  readonly requestId: string;
  readonly signal: AbortSignal;
  /** Told about a failure that is no SvcError; the client reads a fixed sentence. */
  readonly onUnexpected: (error: unknown) => void;
  /** Tokens of the prompt. */
  readonly promptTokens: number;
}

export interface NamedEvent {
  readonly event: string;
  readonly data: string;
}
