// How sequences are laid out in the KV cache.

/**
 * `unified`: all sequences in one piece of memory · `streams`: each sequence in a separate share of equal size; common
 * prefixes are held several times · `paged`: each sequence in a separate region that takes memory as it is filled;
 * common prefixes are held once.
 */
export type KvLayout = "unified" | "streams" | "paged";

/**
 * Returns whether sequences are stored apart. If so, the cells of idle sequences do not slow a sequence down, and
 * llama.cpp computes sequences in one micro-batch only if their ids are consecutive and each has equally many rows.
 * Attention then passes over as many cells for each as the longest one has.
 */
export const liesApart = (layout: KvLayout): boolean => layout !== "unified";

/** Returns whether all sequences take the cells that they need from one pool. */
export const sharesCells = (layout: KvLayout): boolean => layout !== "streams";

/**
 * Rows for which attention is computed together on the CPU; ggml calls them GGML_FA_TILE_Q. A last tile with fewer rows
 * costs as much as a whole one.
 */
export const TILE_ROWS = 64;
