// The pieces of an answer that another server streams, whatever it speaks: what its decoders fill.

import type { TokenLogprob } from "../domain/usage.ts";

/** One message of a stream, taken apart. */
export interface Piece {
  readonly reasoning?: string | undefined;
  readonly text?: string | undefined;
  readonly logprobs?: readonly TokenLogprob[] | undefined;
  readonly calls?: readonly CallPiece[] | undefined;
  /** The end, with the server's word for it. */
  readonly reason?: string | undefined;
  readonly stopSequence?: string | undefined;
  readonly usage?: UpstreamUsage | undefined;
}

/** Part of a tool call, or a whole one. */
export interface CallPiece {
  /** Absent: a call of its own. */
  readonly index?: number;
  readonly id?: string;
  readonly name?: string;
  /** JSON text. */
  readonly arguments: string;
}

export interface UpstreamUsage {
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly cachedTokens: number;
  readonly reasoningTokens: number;
}
