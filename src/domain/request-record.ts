// The record of a request while it runs and after its end, without any of its text.

import type { ErrorCode } from "./errors.ts";
import type { FinishReason, Usage } from "./usage.ts";

/** How far a request is, in characters, seconds, pages or images. */
export interface Progress {
  readonly done: number;
  /** Of how many; absent: unknown. */
  readonly of?: number;
  /** Of images: finished steps of the current one, of all its steps; both 0 before the first step is done. */
  readonly step?: number;
  readonly steps?: number;
}

export interface RequestRecord {
  /** Correlation id. */
  readonly id: string;
  /** Kind of the engine. */
  readonly kind: string;
  readonly model: string;
  readonly client?: string | undefined;
  readonly state: "waiting" | "running" | "ended";
  /** Admission time in milliseconds since 1970. */
  readonly admittedAt: number;
  /** Milliseconds from admission until now, or until the end of the request. */
  readonly ms: number;
  readonly promptTokens: number;
  /** Prompt tokens computed or cached so far; absent: unknown. */
  readonly processedTokens?: number;
  readonly completionTokens: number;
  /** Milliseconds from admission to the first text. */
  readonly firstTextMs?: number;
  readonly usage?: Usage;
  readonly reason?: FinishReason;
  readonly error?: ErrorCode;
}
