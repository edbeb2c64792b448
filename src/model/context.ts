// Chooses how many tokens the KV cache holds.

import { GIB, memorySize } from "../domain/gib.ts";
import { liesApart, type KvLayout } from "../domain/kv-layout.ts";
import type { ModelFile } from "./model-file.ts";

/** Bytes per number in the KV cache; quantised types store blocks of 32 with a 2-byte scale. */
const TYPE_BYTES = { f32: 4, f16: 2, bf16: 2, q8_0: 34 / 32, q4_0: 18 / 32 } as const;

export interface ContextChoice {
  readonly kvMode: KvLayout;
  /** Why it has this layout, as a part of a sentence; absent where --kv-mode says so. */
  readonly kvReason?: string;
  /** Bytes per token in the KV cache. */
  readonly tokenBytes: number;
  /** Memory for what does not fit the KV cache, in bytes: the default size of the host cache. */
  readonly spareBytes: number;
  /** Tokens in the KV cache. */
  readonly context: number;
  /** Bytes of the KV cache, with that of the draft model, once it is full. */
  readonly kvBytes: number;
  /** Bytes of the weights, compute buffers and full KV cache, with those of the draft model. */
  readonly needBytes: number;
  /** Whether the requested size is more than what is free, as `note` explains. */
  readonly isTight: boolean;
  /** Largest prompt plus output of one request, in tokens. */
  readonly maxModelLen: number;
  /** Explains an unexpected choice, in one sentence. */
  readonly note?: string;
}

type Sizes = Pick<
  ModelFile,
  "trainedContext" | "kvHeads" | "keyLength" | "valueLength" | "slidingWindow" | "vocabulary" | "tensorBytes"
>;

export interface ContextNeeds {
  readonly model: Sizes;
  /** The draft model, whose KV cache holds as many tokens. */
  readonly draft?: Sizes;
  readonly kvType: keyof typeof TYPE_BYTES;
  readonly kvMode: KvLayout | "auto";
  readonly parallel: number;
  /** Tokens requested with --ctx. */
  readonly requested?: number;
  /** Whether a paged cache is possible: in host memory that the system allocates when written, with flash attention. */
  readonly canPage: boolean;
  /** Memory that the process may take, in bytes. */
  readonly availableBytes: number;
  /** Memory of this machine, if workers hold the model. */
  readonly hostBytes?: number;
}

/** Share of the memory beside the weights that the KV cache may take by default. */
const KV_SHARE = 0.5;
/** llama.cpp rounds the cache to this many cells. */
const ROUND = 256;
const SMALLEST = 512;
/** A larger default would commit memory that few users need and make loading slow; --ctx sets more. */
const LARGEST_DEFAULT = 32_768;
const LARGEST_DEFAULT_BYTES = 2 * GIB;
/** More for a paged cache, whose pages take memory only when they are filled. */
const LARGEST_PAGED_BYTES = 8 * GIB;
/** Compute buffers: a float for each token of the vocabulary in each row of a micro-batch, plus a fixed part. */
const COMPUTE_ROWS = 512;
const COMPUTE_REST = 64 * 2 ** 20;
/** With more concurrent requests than this, `streams` is faster than `unified`: by a quarter at 32. */
const FEW_REQUESTS = 8;
/** Tokens per request from which fixed shares are acceptable. */
const ENOUGH = 8192;
/** Share of the remaining memory that the spare memory may take. */
const SPARE_SHARE = 0.25;
const LARGEST_SPARE_BYTES = 8 * GIB;

/** Returns the bytes of KV cache per token: an upper bound, because sliding windows count in full. */
export function kvBytesPerToken(model: ContextNeeds["model"], kvType: ContextNeeds["kvType"]): number {
  const heads = model.kvHeads.reduce((sum, count) => sum + count, 0);
  return heads * (model.keyLength + model.valueLength) * TYPE_BYTES[kvType];
}

/** Returns the bytes of the compute buffers of the model and its draft model. */
export const bufferBytes = ({ model, draft }: Pick<ContextNeeds, "model" | "draft">): number =>
  (draft ? [model, draft] : [model]).reduce(
    (sum, { vocabulary }) => sum + vocabulary * COMPUTE_ROWS * 4 + COMPUTE_REST,
    0,
  );

/** Returns the default size of the host cache, where so many bytes of RAM are left. */
export const spareOf = (freeBytes: number): number => Math.min(freeBytes * SPARE_SHARE, LARGEST_SPARE_BYTES);

/**
 * Chooses the size of the KV cache. With --ctx: that size (rounded up to 256), with a note when it is more than the
 * model was trained for or than memory allows. Without --ctx: enough for every parallel request to have the trained
 * length, but at most 32,768 tokens (for each request, with `streams` and `paged`) and 2 GiB (8 with `paged`), and at
 * most half of the memory beside weights and compute buffers. `auto` means `paged` where possible; else `streams`, with
 * an equal share for each parallel request, if there are many requests and the shares are large enough; else `unified`.
 */
export function chooseContext(needs: ContextNeeds): ContextChoice {
  const { kvMode, parallel, model, draft } = needs;
  // A draft model's cache has the same layout.
  const pages = needs.canPage && hasPlainCache(model) && (!draft || hasPlainCache(draft));
  if (kvMode === "paged" && !pages) {
    return { ...contextOf({ ...needs, kvMode: "unified" }), kvReason: "a paged cache is not possible here" };
  }
  if (kvMode !== "auto") return contextOf({ ...needs, kvMode });
  if (pages) return { ...contextOf({ ...needs, kvMode: "paged" }), kvReason: "memory is taken as it fills" };
  const unified = (kvReason: string) => ({ ...contextOf({ ...needs, kvMode: "unified" }), kvReason });
  if (parallel <= FEW_REQUESTS) return unified(`best for at most ${FEW_REQUESTS} requests`);
  const streams = contextOf({ ...needs, kvMode: "streams" });
  const enough = streams.maxModelLen >= Math.min(model.trainedContext, ENOUGH);
  if (!enough) return unified(`shares would be small for ${parallel} requests`);
  return { ...streams, kvReason: `shares are faster for more than ${FEW_REQUESTS} requests` };
}

/** llama.cpp frees the cells of sliding windows, and of states that are not per token, in its own order. */
const hasPlainCache = ({ slidingWindow, kvHeads }: Sizes): boolean =>
  slidingWindow === 0 && kvHeads.length > 0 && !kvHeads.includes(0);

function contextOf(needs: ContextNeeds & { readonly kvMode: KvLayout }): ContextChoice {
  const { model, draft, requested, kvMode, parallel } = needs;
  const perRequest = (context: number) => (kvMode === "streams" ? Math.floor(context / parallel) : context);
  const tokenBytes = kvBytesPerToken(model, needs.kvType);
  // Bytes per token in the caches of both models.
  const cellBytes = tokenBytes + (draft ? kvBytesPerToken(draft, needs.kvType) : 0);
  const taken = model.tensorBytes + (draft?.tensorBytes ?? 0) + bufferBytes(needs);
  const free = Math.max(0, needs.availableBytes - taken);
  const sizes = (context: number) => {
    const kvBytes = context * cellBytes;
    const spareBytes = spareOf(needs.hostBytes ?? Math.max(0, free - kvBytes));
    return { kvMode, tokenBytes, context, kvBytes, needBytes: taken + kvBytes, spareBytes };
  };
  if (requested !== undefined) {
    const chosen = sizes(Math.ceil(requested / ROUND) * ROUND);
    const note = requestedNote(requested, model.trainedContext, chosen.kvBytes, free);
    return { ...chosen, isTight: chosen.kvBytes > free, maxModelLen: perRequest(requested), ...(note && { note }) };
  }
  const trained = model.trainedContext;
  const wanted = liesApart(kvMode)
    ? Math.min(trained, LARGEST_DEFAULT) * parallel
    : Math.min(trained * parallel, LARGEST_DEFAULT);
  const room = free * KV_SHARE;
  const largestBytes = kvMode === "paged" ? LARGEST_PAGED_BYTES : LARGEST_DEFAULT_BYTES;
  // A recurrent model stores nothing per token.
  const affordable = cellBytes > 0 ? Math.floor(Math.min(room, largestBytes) / cellBytes / ROUND) * ROUND : wanted;
  const context = Math.ceil(Math.max(SMALLEST, Math.min(wanted, affordable)) / ROUND) * ROUND;
  const maxModelLen = Math.min(trained, kvMode === "paged" ? LARGEST_DEFAULT : trained, perRequest(context));
  const note = defaultNote(maxModelLen, trained, context < wanted && room < largestBytes);
  return { ...sizes(context), isTight: false, maxModelLen, ...(note && { note }) };
}

function requestedNote(requested: number, trained: number, bytes: number, free: number): string | undefined {
  if (bytes > free) return `needs ${memorySize(bytes)} where ${memorySize(free)} are free beside the weights`;
  return requested > trained ? `more than the ${trained} tokens the model was trained for` : undefined;
}

function defaultNote(maxModelLen: number, trained: number, cappedByMemory: boolean): string | undefined {
  if (maxModelLen >= trained) return undefined;
  const reason = cappedByMemory ? "capped by free memory" : "the default limit";
  return `${reason}; the model was trained for ${trained}, --ctx sets another size`;
}
