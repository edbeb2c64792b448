// The pieces of an answer that another server streams, whatever it speaks: what its decoders fill.

import type { ProgressEvent } from "../domain/generate.ts";
import type { TokenLogprob, Usage } from "../domain/usage.ts";

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
  /** Tokens of the answer so far, where the server counts them meanwhile. */
  readonly tokens?: number | undefined;
  readonly progress?: Omit<ProgressEvent, "type"> | undefined;
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

/** Without times, which are measured here. */
export type UpstreamUsage = Omit<Usage, "queueMs" | "promptMs" | "completionMs">;
