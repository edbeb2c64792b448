// Decides which LoRA adapters compute an answer: selected by the model's name or by llama.cpp's field.

import { adapterSet, type Adapter, type AdapterScale, type AdapterSet } from "../../domain/adapters.ts";
import { fieldError, SvcError } from "../../domain/errors.ts";
import type { GenerateRequest } from "../../domain/generate.ts";

/** Launch options. */
export interface AdapterSettings {
  /** The adapters on offer; a request names them by index. */
  readonly lora: readonly Adapter[];
}

interface AdapterFields {
  readonly model?: string | null | undefined;
  readonly lora?: readonly AdapterScale[] | null;
}

/**
 * Returns the adapters that a request selects: those of its `lora`, otherwise the one that its `model` names; none when
 * it does neither. Throws SvcError `invalid_value` when an adapter is not on offer or named twice.
 */
export function decodeAdapters(
  { model, lora }: AdapterFields,
  { lora: offered }: AdapterSettings,
): Pick<GenerateRequest, "adapters"> {
  if (lora?.length) return { adapters: decodeLora(lora, offered.length) };
  const id = offered.findIndex(({ name }) => name === model);
  const named = offered[id];
  return named ? { adapters: [{ id, scale: named.scale || 1 }] } : {};
}

/** Checks that each id is on offer and unique. `path`: where the ids are. Throws SvcError `invalid_value`. */
export function decodeLora(lora: readonly AdapterScale[], offered: number, path = "lora."): AdapterSet {
  for (const [at, { id }] of lora.entries()) {
    const param = `${path}${at}.id`;
    if (id >= offered) {
      const limit = offered === 0 ? "the server has no adapters" : `must be at most ${offered - 1}, the last adapter`;
      throw new SvcError("invalid_value", `'${param}': ${limit}; got ${id}.`, { param });
    }
    if (lora.findIndex((other) => other.id === id) !== at) {
      throw fieldError("invalid_value", param, `names adapter ${id} a second time`);
    }
  }
  return adapterSet(lora);
}
