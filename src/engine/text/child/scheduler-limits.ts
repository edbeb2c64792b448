// Derives the scheduler's limits from a loaded model and the engine's options.

import type { LoadedModel } from "../../../../ffi/llama/api.ts";
import { TILE_ROWS } from "../../../domain/kv-layout.ts";
import type { SchedulerLimits } from "../../../scheduler/limits.ts";
import type { EngineOptions } from "../protocol.ts";

/** Bytes per millisecond that a slow machine copies from one stream of the KV cache to another. */
const COPY_BYTES_PER_MS = 3e6;
/** Bytes per millisecond that a slow machine offloads from a sequence to host memory that was not used before. */
const OFFLOAD_BYTES_PER_MS = 1e6;
/** Bytes per millisecond that a slow machine reads from disk. */
const READ_BYTES_PER_MS = 3e5;

/** Types of the KV cache for which attention on the CPU computes tiles of rows. */
const TILED_TYPES: ReadonlySet<string> = new Set(["f16", "f32"]);

/** `hasDisk`: whether there is a disk cache. */
export function schedulerLimits(options: EngineOptions, model: LoadedModel, hasDisk: boolean): SchedulerLimits {
  return {
    parallel: options.parallel,
    batch: model.batch,
    chunk: model.chunk,
    stallBudgetMs: options.stallBudgetMs,
    draftMax: options.draft?.max ?? 0,
    draftAdaptive: options.draft?.adaptive ?? true,
    layout: model.layout,
    tile: model.layout === "paged" && TILED_TYPES.has(options.kvType) ? TILE_ROWS : 0,
    microBatch: options.microBatch,
    cells: model.context,
    region: model.contextPerSequence,
    sequences: model.sequences,
    reuse: options.prefixCache,
    canTrim: model.canRemovePartial,
    hostBytes: options.cacheRamBytes,
    tokenBytes: options.kvTokenBytes,
    offloadTokenMs: options.kvTokenBytes / OFFLOAD_BYTES_PER_MS,
    hasDisk,
    readTokenMs: options.kvTokenBytes / READ_BYTES_PER_MS,
    copyMs: (model.contextPerSequence * options.kvTokenBytes) / COPY_BYTES_PER_MS,
  };
}
