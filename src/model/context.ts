// How many tokens the KV cache gets.

import { GIB, gib } from "../domain/gib.ts";
import { liesApart, type KvLayout } from "../domain/kv-layout.ts";
import type { ModelFile } from "./model-file.ts";

/** Bytes of one number in the KV cache; quantised types store blocks of 32 with a 2-byte scale. */
const TYPE_BYTES = { f32: 4, f16: 2, bf16: 2, q8_0: 34 / 32, q4_0: 18 / 32 } as const;

export interface ContextChoice {
  readonly kvMode: KvLayout;
  /** Bytes that a token takes in the KV cache. */
  readonly tokenBytes: number;
  /** Memory for what the KV cache has no room for. */
  readonly spareBytes: number;
  /** Tokens in the KV cache. */
  readonly context: number;
  /** Largest prompt plus output of one request. */
  readonly maxModelLen: number;
  /** Why it is not what one might expect, in one sentence. */
  readonly note?: string;
}

type Sizes = Pick<
  ModelFile,
  "trainedContext" | "kvHeads" | "keyLength" | "valueLength" | "slidingWindow" | "vocabulary" | "tensorBytes"
>;

export interface ContextNeeds {
  readonly model: Sizes;
  /** A draft model, which has a KV cache of as many tokens. */
  readonly draft?: Sizes;
  readonly kvType: keyof typeof TYPE_BYTES;
  readonly kvMode: KvLayout | "auto";
  readonly parallel: number;
  /** Tokens asked for with --ctx. */
  readonly requested?: number;
  /** The cache is in the host's memory, on a system that gives pages as they are written, and flash attention is used. */
  readonly canPage: boolean;
  /** Memory that the process may take, in bytes. */
  readonly availableBytes: number;
  /** Memory of this machine, where the model is on others. */
  readonly hostBytes?: number;
}

/** Share of the memory left beside the weights that the KV cache may take by default. */
const KV_SHARE = 0.5;
/** llama.cpp rounds the cache to this many cells. */
const ROUND = 256;
const SMALLEST = 512;
/** A larger default would commit memory that few use and make loading slow; whoever wants more says so with --ctx. */
const LARGEST_DEFAULT = 32_768;
const LARGEST_DEFAULT_BYTES = 2 * GIB;
/** Pages are taken as they are filled. */
const LARGEST_PAGED_BYTES = 8 * GIB;
/** Compute buffers: a float for each word of the vocabulary in each row of a micro-batch, and some more. */
const COMPUTE_ROWS = 512;
const COMPUTE_REST = 64 * 2 ** 20;
/** Streams are faster than a unified cache where more requests than this run at once, by a quarter at 32. */
const FEW_REQUESTS = 8;
/** Tokens for each request that are enough to give up dividing freely. */
const ENOUGH = 8192;
/** What may be kept outside the KV cache: a share of the memory that is left beside everything. */
const SPARE_SHARE = 0.25;
const LARGEST_SPARE_BYTES = 8 * GIB;

/** Bytes of KV cache per token: an upper bound, because sliding windows are not counted as smaller. */
export function kvBytesPerToken(model: ContextNeeds["model"], kvType: ContextNeeds["kvType"]): number {
  const heads = model.kvHeads.reduce((sum, count) => sum + count, 0);
  return heads * (model.keyLength + model.valueLength) * TYPE_BYTES[kvType];
}

/**
 * Chooses the size of the KV cache. With --ctx exactly that (rounded up to 256), with a note when it is more than the
 * model was trained for or than the memory holds. Without it: enough for every parallel request to have the trained
 * length, at most 32,768 tokens (each, with `streams` and `paged`) and 2 GiB (8 with `paged`), and at most half of the memory
 * that is left beside weights and compute buffers. `auto` is `paged` where that is possible. Elsewhere it is `streams`, with
 * which each of the parallel requests owns an equal share, where many run at once and each has enough, else `unified`.
 */
export function chooseContext(needs: ContextNeeds): ContextChoice {
  const { kvMode, parallel, model } = needs;
  // llama.cpp frees cells of a sliding window, and of a state that is not of tokens, in its own order.
  const pages =
    needs.canPage &&
    model.slidingWindow === 0 &&
    kvBytesPerToken(model, needs.kvType) > 0 &&
    !model.kvHeads.includes(0);
  if (kvMode === "paged" && !pages) {
    const choice = contextOf({ ...needs, kvMode: "unified" });
    const note = [choice.note, "a paged cache is not possible here"].filter(Boolean).join("; ");
    return { ...choice, note };
  }
  if (kvMode !== "auto") return contextOf({ ...needs, kvMode });
  if (pages) return contextOf({ ...needs, kvMode: "paged" });
  const streams = contextOf({ ...needs, kvMode: "streams" });
  const enough = streams.maxModelLen >= Math.min(model.trainedContext, ENOUGH);
  return parallel > FEW_REQUESTS && enough ? streams : contextOf({ ...needs, kvMode: "unified" });
}

function contextOf(needs: ContextNeeds & { readonly kvMode: KvLayout }): ContextChoice {
  const { model, draft, requested, kvMode, parallel } = needs;
  const perRequest = (context: number) => (kvMode === "streams" ? Math.floor(context / parallel) : context);
  const tokenBytes = kvBytesPerToken(model, needs.kvType);
  // What a token takes in the caches of all models.
  const cellBytes = tokenBytes + (draft ? kvBytesPerToken(draft, needs.kvType) : 0);
  const models = draft ? [model, draft] : [model];
  const taken = models.map(({ vocabulary, tensorBytes }) => tensorBytes + vocabulary * COMPUTE_ROWS * 4 + COMPUTE_REST);
  const free = Math.max(0, needs.availableBytes - taken.reduce((sum, bytes) => sum + bytes, 0));
  const spare = (context: number) =>
    Math.min((needs.hostBytes ?? Math.max(0, free - context * cellBytes)) * SPARE_SHARE, LARGEST_SPARE_BYTES);
  if (requested !== undefined) {
    const context = Math.ceil(requested / ROUND) * ROUND;
    const note = requestedNote(requested, model.trainedContext, context * cellBytes, free);
    const maxModelLen = perRequest(requested);
    return { kvMode, tokenBytes, spareBytes: spare(context), context, maxModelLen, ...(note && { note }) };
  }
  const trained = model.trainedContext;
  const wanted = liesApart(kvMode)
    ? Math.min(trained, LARGEST_DEFAULT) * parallel
    : Math.min(trained * parallel, LARGEST_DEFAULT);
  const room = free * KV_SHARE;
  const largestBytes = kvMode === "paged" ? LARGEST_PAGED_BYTES : LARGEST_DEFAULT_BYTES;
  // A recurrent model keeps nothing for each token.
  const affordable = cellBytes > 0 ? Math.floor(Math.min(room, largestBytes) / cellBytes / ROUND) * ROUND : wanted;
  const context = Math.ceil(Math.max(SMALLEST, Math.min(wanted, affordable)) / ROUND) * ROUND;
  const maxModelLen = Math.min(trained, kvMode === "paged" ? LARGEST_DEFAULT : trained, perRequest(context));
  const note = defaultNote(maxModelLen, trained, context < wanted && room < largestBytes);
  return { kvMode, tokenBytes, spareBytes: spare(context), context, maxModelLen, ...(note && { note }) };
}

function requestedNote(requested: number, trained: number, bytes: number, free: number): string | undefined {
  if (bytes > free) return `needs ${gib(bytes)} GiB where ${gib(free)} GiB are free beside the weights`;
  return requested > trained ? `more than the ${trained} tokens the model was trained for` : undefined;
}

function defaultNote(maxModelLen: number, trained: number, cappedByMemory: boolean): string | undefined {
  if (maxModelLen >= trained) return undefined;
  const reason = cappedByMemory ? "capped by free memory" : "the default limit";
  return `${reason}; the model was trained for ${trained}, --ctx sets another size`;
}
