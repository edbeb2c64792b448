// What accepted requests wait for: determined by the scheduler, exported as metrics.

/**
 * `sequence`: the maximum number of requests is running · `cells`: the KV cache has too few free cells · `prefix`:
 * another request computes a prefix of this one · `turn`: a later request of another client goes first · `step`: the
 * current step.
 */
export const WAIT_REASONS = ["sequence", "cells", "prefix", "turn", "step"] as const;
export type WaitReason = (typeof WAIT_REASONS)[number];

/** Number of requests by what they wait for. */
export type Waiting = Readonly<Record<WaitReason, number>>;

export const nobodyWaits: Waiting = { sequence: 0, cells: 0, prefix: 0, turn: 0, step: 0 };
