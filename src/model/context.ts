// How many tokens the KV cache gets.

import type { ModelFile } from "./model-file.ts";

/** Bytes of one number in the KV cache; quantised types store blocks of 32 with a 2-byte scale. */
const TYPE_BYTES = { f32: 4, f16: 2, bf16: 2, q8_0: 34 / 32, q4_0: 18 / 32 } as const;

export interface ContextChoice {
  /** Tokens in the KV cache. */
  readonly context: number;
  /** Largest prompt plus output of one request. */
  readonly maxModelLen: number;
  /** Why it is not what one might expect, in one sentence. */
  readonly note?: string;
}

export interface ContextNeeds {
  readonly model: Pick<ModelFile, "trainedContext" | "layers" | "kvHeads" | "keyLength" | "valueLength" | "fileBytes">;
  readonly kvType: keyof typeof TYPE_BYTES;
  readonly kvMode: "unified" | "streams";
  readonly parallel: number;
  /** Tokens asked for with --ctx. */
  readonly requested?: number;
  /** Memory that the process may take, in bytes. */
  readonly availableBytes: number;
}

/** Share of the memory left beside the weights that the KV cache may take by default. */
const KV_SHARE = 0.5;
/** llama.cpp rounds the cache to this many cells. */
const ROUND = 256;
const SMALLEST = 512;
/** A larger default would commit memory that few use and make loading slow; whoever wants more says so with --ctx. */
const LARGEST_DEFAULT = 32_768;
const LARGEST_DEFAULT_BYTES = 2 * 2 ** 30;

/** Bytes of KV cache per token: an upper bound, because sliding windows are not counted as smaller. */
export function kvBytesPerToken(model: ContextNeeds["model"], kvType: ContextNeeds["kvType"]): number {
  const heads = model.kvHeads.reduce((sum, count) => sum + count, 0);
  return heads * (model.keyLength + model.valueLength) * TYPE_BYTES[kvType];
}

/**
 * Chooses the size of the KV cache. With --ctx exactly that (rounded up to 256), with a note when it is more than the
 * model was trained for. Without: what the model was trained for, at most 32,768 and 2 GiB, and at most half of the memory
 * that is left beside the weights. With `streams`, each of the parallel requests owns an equal share.
 */
export function chooseContext(needs: ContextNeeds): ContextChoice {
  const { model, requested, kvMode, parallel } = needs;
  const perRequest = (context: number) => (kvMode === "streams" ? Math.floor(context / parallel) : context);
  if (requested !== undefined) {
    const context = Math.ceil(requested / ROUND) * ROUND;
    const note =
      requested > model.trainedContext
        ? `more than the ${model.trainedContext} tokens the model was trained for`
        : undefined;
    return { context, maxModelLen: perRequest(requested), ...(note && { note }) };
  }
  const trained = model.trainedContext;
  const wanted = Math.min(trained, LARGEST_DEFAULT) * (kvMode === "streams" ? parallel : 1);
  const perToken = kvBytesPerToken(model, needs.kvType);
  const room = Math.max(0, needs.availableBytes - model.fileBytes) * KV_SHARE;
  const limit = Math.min(room, LARGEST_DEFAULT_BYTES);
  const affordable = perToken > 0 ? Math.floor(limit / perToken / ROUND) * ROUND : wanted;
  const context = Math.ceil(Math.max(SMALLEST, Math.min(wanted, affordable)) / ROUND) * ROUND;
  return {
    context,
    maxModelLen: Math.min(trained, perRequest(context)),
    ...defaultNote(context, trained, context < wanted && room < LARGEST_DEFAULT_BYTES),
  };
}

function defaultNote(context: number, trained: number, cappedByMemory: boolean): { note?: string } {
  if (context >= trained) return {};
  const reason = cappedByMemory ? "capped by free memory" : "the default limit";
  return { note: `${reason}; the model was trained for ${trained}, --ctx sets another size` };
}
