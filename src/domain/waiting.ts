// What accepted requests wait for, as the scheduler sees it and metrics tell it.

/**
 * `sequence`: all that may run at once do · `cells`: the KV cache has no room beside the running ones · `prefix`: another
 * request computes what it begins with · `turn`: another client, which came later, is served before · `step`: nothing but the step under way.
 */
export const WAIT_REASONS = ["sequence", "cells", "prefix", "turn", "step"] as const;
export type WaitReason = (typeof WAIT_REASONS)[number];

/** Requests by what they wait for. */
export type Waiting = Readonly<Record<WaitReason, number>>;

export const nobodyWaits: Waiting = { sequence: 0, cells: 0, prefix: 0, turn: 0, step: 0 };
