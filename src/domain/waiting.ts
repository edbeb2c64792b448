// What accepted requests wait for, exported as metrics.

/**
 * `media`: its images and sounds are not encoded yet · `sequence`: the maximum number of requests is running · `cells`: the KV cache has too few free cells · `prefix`:
 * another request computes a prefix of this one · `turn`: a later request of another client goes first · `step`: the
 * current step.
 */
export const WAIT_REASONS = ["media", "sequence", "cells", "prefix", "turn", "step"] as const;
export type WaitReason = (typeof WAIT_REASONS)[number];

/** Number of requests by what they wait for. */
export type Waiting = Readonly<Record<WaitReason, number>>;

export const nobodyWaits: Waiting = { media: 0, sequence: 0, cells: 0, prefix: 0, turn: 0, step: 0 };
