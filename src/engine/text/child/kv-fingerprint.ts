// The fingerprint: what the bytes of a conversation on disk depend on, besides its tokens and adapters.

import type { LoadedModel } from "../../../../ffi/llama/api.ts";
import type { EngineOptions, KvOrigin } from "../protocol.ts";

/** Increased with each change of the bytes that nothing else here reflects. */
const FORMAT = 2;

/**
 * Returns 32 bytes that are equal only if one process can restore what another has written: same model and projector,
 * same llama.cpp, same layout of the KV cache, and same rope where the context's size determines it.
 */
export function kvFingerprint(
  options: Pick<EngineOptions, "kvType" | "flashAttention" | "gpuLayers" | "spread"> & {
    readonly kvOrigin: KvOrigin;
  },
  model: Pick<LoadedModel, "layout" | "sequences" | "contextPerSequence">,
  llamaVersion: string,
): Uint8Array {
  const { kvOrigin, kvType, flashAttention, gpuLayers, spread } = options;
  const isSpread = spread !== undefined && spread.workers.length > 0;
  const facts = {
    format: FORMAT,
    llama: llamaVersion,
    model: kvOrigin.model.hash,
    projector: kvOrigin.projector?.hash,
    kvType,
    // Without flash attention the values are stored transposed; "auto" depends on where the layers are.
    attention: [flashAttention, gpuLayers, ...(isSpread ? ["workers"] : [])],
    // llama.cpp stores the number of streams in the state.
    layout: model.layout === "unified" ? model.layout : [model.layout, model.sequences],
    context: kvOrigin.model.ropeByContext ? model.contextPerSequence : undefined,
  };
  return new Bun.CryptoHasher("sha256").update(JSON.stringify(facts)).digest();
}
