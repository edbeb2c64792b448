// The status of upstreams, for operators.

import type { ErrorCode } from "./errors.ts";

/**
 * `unknown`: the replica has not listed its models yet · `slow`: requests wait there and no answer has come for long ·
 * `refusing`: it rejects svc's key · `down`: it failed several times in a row and gets no requests during a pause ·
 * `draining`: it gets no new requests but still has some · `drained`: it has no requests left.
 */
export type ReplicaState = "unknown" | "up" | "slow" | "refusing" | "down" | "draining" | "drained";

/** Returns whether requests to the replica cannot succeed. */
export const isOut = (state: ReplicaState): boolean => state === "down" || state === "refusing";

/** The replica that answered a request. */
export interface ServedBy {
  /** Address of the replica. */
  readonly replica: string;
  /** Failed attempts before that, at this or another replica. */
  readonly retries: number;
}

export interface ReplicaStatus {
  readonly url: string;
  /** Kind of server: `vllm`, `llama.cpp`, … */
  readonly kind: string;
  readonly state: ReplicaState;
  readonly models: readonly string[];
  /** Milliseconds until the replica is tried again, while `down`. */
  readonly retryMs?: number;
  /** Why the replica is down, did not list its models or refuses svc's key; never contains text from the replica. */
  readonly lastError?: string;
  /** Requests in progress. */
  readonly running: number;
  readonly counts: ReplicaCounts;
  /** Milliseconds to the first token of the last requests; absent: there were none. */
  readonly firstTokenMs?: { readonly median: number; readonly p99: number };
}

/** Counts of a replica since svc first sent it requests. */
export interface ReplicaCounts {
  /** Requests sent, including those that were then retried at another replica. */
  readonly requests: number;
  /** How many of these had failed before, at this or another replica. */
  readonly retries: number;
  /** How many of these were sent because another replica was silent for longer than usual (--upstream-hedge). */
  readonly hedges: number;
  /** Failures by the resulting error code. */
  readonly failures: ReadonlyMap<ErrorCode, number>;
  /** How often the replica went down. */
  readonly outages: number;
  /** Requests whose prefix belongs to this replica; misses: their own replica was busy, down or draining. */
  readonly affinityHits: number;
  readonly affinityMisses: number;
  /** Tokens of finished requests; `promptTokens` includes the cached ones. */
  readonly promptTokens: number;
  readonly cachedTokens: number;
  readonly completionTokens: number;
}

export interface UpstreamStatus {
  readonly name: string;
  /** Whether the operator configured the upstream, rather than discovery found it. */
  readonly isConfigured: boolean;
  readonly replicas: readonly ReplicaStatus[];
}

const isDraining = ({ state }: ReplicaStatus): boolean => state === "draining" || state === "drained";

/** Returns whether all replicas are out, except those that the operator drains: requests cannot succeed then. */
export function isDead({ replicas }: UpstreamStatus): boolean {
  const serving = replicas.filter((replica) => !isDraining(replica));
  return serving.length > 0 && serving.every(({ state }) => isOut(state));
}

/** Returns what becomes of new requests; `drained`: they fail because the operator drains all replicas. */
export function upstreamState(upstream: UpstreamStatus): "up" | "down" | "drained" {
  if (isDead(upstream)) return "down";
  return upstream.replicas.every(isDraining) ? "drained" : "up";
}
