// How sequences lie in the KV cache.

/**
 * Unified: all in one piece of memory. Streams: each in a share of its own, all equal, also what it has in common with others.
 * Paged: each in a region of its own, which takes memory as it is filled; what sequences have in common is held once.
 */
export type KvLayout = "unified" | "streams" | "paged";

/**
 * Others' cells do not slow a sequence down, and llama.cpp computes sequences together only where each is the one after the
 * last and has as many rows.
 */
export const liesApart = (layout: KvLayout): boolean => layout !== "unified";

/** Sequences take cells from those of all, as many as they need. */
export const sharesCells = (layout: KvLayout): boolean => layout !== "streams";
