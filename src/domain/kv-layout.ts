// How sequences lie in the KV cache.

/**
 * Unified: in one piece of memory, where what sequences have in common is held once. Streams: each in a share of its own,
 * all equal. Paged: each in a region of its own, which takes memory as it is filled.
 */
export type KvLayout = "unified" | "streams" | "paged";

/**
 * Each sequence's cells are its own: others' do not slow it down, what it has in common with them is held twice, and
 * llama.cpp computes sequences together only where each is the one after the last and has as many rows.
 */
export const liesApart = (layout: KvLayout): boolean => layout !== "unified";

/** Sequences take cells from those of all, as many as they need. */
export const sharesCells = (layout: KvLayout): boolean => layout !== "streams";
