// What is remembered of a request while it runs and after its end, and nothing of its text.

import type { ErrorCode } from "./errors.ts";
import type { FinishReason, Usage } from "./usage.ts";

export interface RequestRecord {
  /** Correlation id. */
  readonly id: string;
  /** Kind of its engine. */
  readonly kind: string;
  readonly model: string;
  readonly client?: string | undefined;
  readonly state: "waiting" | "running" | "ended";
  /** Milliseconds since 1970. */
  readonly admittedAt: number;
  /** Milliseconds since admission, or until its end. */
  readonly ms: number;
  readonly promptTokens: number;
  /** Of these, computed or cached so far; absent: nobody knows. */
  readonly processedTokens?: number;
  readonly completionTokens: number;
  /** Milliseconds from admission to the first text. */
  readonly firstTextMs?: number;
  readonly usage?: Usage;
  readonly reason?: FinishReason;
  readonly error?: ErrorCode;
}
