// Other servers as operators see them.

import type { ErrorCode } from "./errors.ts";

/**
 * `unknown`: it has not listed its models yet · `slow`: requests wait there, and nothing has come for long · `refusing`: it
 * does not accept svc's key · `down`: it failed several times in a row and gets no requests until its pause is over ·
 * `draining`: it gets no new requests and still has some · `drained`: it has none any more.
 */
export type ReplicaState = "unknown" | "up" | "slow" | "refusing" | "down" | "draining" | "drained";

/** Whether requests that go to the replica come to nothing. */
export const isOut = (state: ReplicaState): boolean => state === "down" || state === "refusing";

/** Who answered a request. */
export interface ServedBy {
  /** Address of the replica. */
  readonly replica: string;
  /** Attempts that failed before it did, here or at another replica. */
  readonly retries: number;
}

export interface ReplicaStatus {
  readonly url: string;
  /** Which server it is: `vllm`, `llama.cpp`, … */
  readonly kind: string;
  readonly state: ReplicaState;
  readonly models: readonly string[];
  /** Milliseconds until it is tried again, while `down`. */
  readonly retryMs?: number;
  /** Why it is down, or did not list its models; none of its own words. */
  readonly lastError?: string;
  /** Requests under way. */
  readonly running: number;
  readonly counts: ReplicaCounts;
  /** Milliseconds to the first token of its last requests; absent: it had none. */
  readonly firstTokenMs?: { readonly median: number; readonly p99: number };
}

/** What has happened at a replica since svc began to send it requests. */
export interface ReplicaCounts {
  /** Requests sent, those that another replica got afterwards included. */
  readonly requests: number;
  /** Those of them that failed before, here or at another replica. */
  readonly retries: number;
  /** Those sent as another replica was silent for longer than usual (--upstream-hedge). */
  readonly hedges: number;
  /** By the error that a failure comes to. */
  readonly failures: ReadonlyMap<ErrorCode, number>;
  /** Times at which it went down. */
  readonly outages: number;
  /** Requests whose beginning belongs here, and those that came because their own replica was busy, down or draining. */
  readonly affinityHits: number;
  readonly affinityMisses: number;
  /** Of finished requests; cached ones are among those of the prompts. */
  readonly promptTokens: number;
  readonly cachedTokens: number;
  readonly completionTokens: number;
}

export interface UpstreamStatus {
  readonly name: string;
  /** Named by the operator, not found. */
  readonly isConfigured: boolean;
  readonly replicas: readonly ReplicaStatus[];
}

/** Whether requests to the upstream come to nothing because its replicas are out; drained ones are the operator's will. */
export function isDead({ replicas }: UpstreamStatus): boolean {
  const serving = replicas.filter(({ state }) => state !== "draining" && state !== "drained");
  return serving.length > 0 && serving.every(({ state }) => isOut(state));
}
