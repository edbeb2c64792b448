// What the bytes of a saved conversation depend on, beside its tokens and the adapters that computed them.

import { createHash } from "node:crypto";
import type { LoadedModel } from "../../../../ffi/llama/api.ts";
import type { EngineOptions } from "../protocol.ts";

/** Counts changes of what is saved that nothing else here tells. */
const FORMAT = 2;

/**
 * 32 bytes that are equal only where one process can go on with what another saved: the same model and projector, the same
 * llama.cpp, the same layout of the KV cache, and the same rope where the context's size chooses it.
 */
export function kvFingerprint(
  options: Pick<EngineOptions, "kvType" | "kvMode" | "flashAttention" | "gpuLayers"> & {
    readonly kvDir: NonNullable<EngineOptions["kvDir"]>;
  },
  model: Pick<LoadedModel, "sequences" | "contextPerSequence">,
  llamaVersion: string,
): Uint8Array {
  const { kvDir, kvType, kvMode, flashAttention, gpuLayers } = options;
  const facts = {
    format: FORMAT,
    llama: llamaVersion,
    model: kvDir.model.hash,
    projector: kvDir.projector?.hash,
    kvType,
    // Without flash attention values lie transposed; "auto" depends on where the layers are.
    attention: [flashAttention, gpuLayers],
    // llama.cpp writes how many streams there are.
    layout: kvMode === "unified" ? kvMode : [kvMode, model.sequences],
    context: kvDir.model.ropeByContext ? model.contextPerSequence : undefined,
  };
  return createHash("sha256").update(JSON.stringify(facts)).digest();
}
