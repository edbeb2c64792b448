// The pieces of an answer that an upstream streams, as its decoders produce them for any protocol.

import type { ProgressEvent } from "../domain/generate.ts";
import type { TokenLogprob, Usage } from "../domain/usage.ts";

/** One parsed message of a stream, or several whose text is joined. */
export interface Piece {
  /** How many messages are joined; absent: one. */
  readonly count?: number;
  readonly reasoning?: string | undefined;
  readonly text?: string | undefined;
  readonly logprobs?: readonly TokenLogprob[] | undefined;
  readonly calls?: readonly CallPiece[] | undefined;
  /** The server's finish reason, in the last piece. */
  readonly reason?: string | undefined;
  readonly stopSequence?: string | undefined;
  readonly usage?: UpstreamUsage | undefined;
  /** Tokens of the answer so far, if the server counts them during the answer. */
  readonly tokens?: number | undefined;
  readonly progress?: Omit<ProgressEvent, "type"> | undefined;
}

/** Part of a tool call, or a complete one. */
export interface CallPiece {
  /** Absent: a separate call if the piece has a name, else the last call. */
  readonly index?: number | undefined;
  readonly id?: string | undefined;
  /** Absent: the piece continues a call. */
  readonly name?: string | undefined;
  /** JSON text. */
  readonly arguments: string;
}

/** Usage without times, which svc measures itself. */
export type UpstreamUsage = Omit<Usage, "queueMs" | "promptMs" | "completionMs">;
