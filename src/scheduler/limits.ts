// The scheduler's settings.

import type { KvLayout } from "../domain/kv-layout.ts";

export interface SchedulerLimits {
  /** How many requests may run at once. */
  readonly parallel: number;

  readonly layout: KvLayout;
  /** Cells of the KV cache, for all sequences together. */
  readonly cells: number;
  /** Cells that one sequence may hold. */
  readonly region: number;
  /** How many sequence ids there are; at least as many as requests may run at once. */
  readonly sequences: number;
  /** Whether the cells of finished requests are kept for later requests. */
  readonly reuse: boolean;
  /** Whether the model's state can be trimmed at any token; if not, a cached prefix is used as a whole or not at all. */
  readonly canTrim: boolean;
  /** Milliseconds to copy a sequence. Sharing a sequence is nearly free. */
  readonly copyMs: number;

  /** Capacity of the host cache in bytes; 0: no host cache. */
  readonly hostBytes: number;
  /** Bytes per token. The bytes that a sequence takes in addition to its tokens are learned. */
  readonly tokenBytes: number;
  /** Milliseconds to offload or restore one token. */
  readonly offloadTokenMs: number;
  /** Whether there is a disk cache. */
  readonly hasDisk: boolean;
  /** Milliseconds to read one token from disk. */
  readonly readTokenMs: number;

  /** Maximum number of rows in one decode call. */
  readonly batch: number;
  /** Maximum number of rows that llama.cpp computes at once. */
  readonly microBatch: number;
  /** Rows of a sequence that attention computes together; 0 where sequences need not fill tiles of their own. */
  readonly tile: number;
  /** Maximum rows of a chunk whose computation can be paused for a step; 0 where chunks cannot be paused. */
  readonly chunk: number;
  /** Longest time between two tokens of running streams while other requests' prompts are computed, in milliseconds. */
  readonly stallBudgetMs: number;

  /** Maximum number of tokens drafted for a request in a step; 0: there is no draft model. */
  readonly draftMax: number;
  /** Whether to draft as many tokens as pay; if not, always the maximum. */
  readonly draftAdaptive: boolean;
}
