// Decodes llama.cpp's list of samplers: samplers that it omits are off.

import { SvcError } from "../../domain/errors.ts";
import type { Sampling } from "../../domain/generate.ts";

/** The samplers in the order in which they are applied, with the settings that switch each off. */
const CHAIN: readonly (readonly [names: readonly string[], off: Sampling])[] = [
  [["penalties"], { repetitionPenalty: 1, presencePenalty: 0 }],
  [["dry"], { dryMultiplier: 0 }],
  [["top_n_sigma"], { topNSigma: -1 }],
  [["top_k"], { topK: 0 }],
  [["typ_p", "typical_p", "typ"], { typicalP: 1 }],
  [["top_p", "nucleus"], { topP: 1 }],
  [["min_p"], { minP: 0 }],
  [["xtc"], { xtcProbability: 0 }],
  [["temperature", "temp"], { temperature: 1, dynatempRange: 0 }],
];

/**
 * llama.cpp's sampler for filling gaps, which clients of /infill put last. It has no effect here: it only prefers the end
 * of the answer and joins tokens with a common beginning.
 */
const INFILL = "infill";

/** llama.cpp's sampler that does nothing unless `adaptive_target` is set, wherever it is named. */
const ADAPTIVE = "adaptive_p";

/** Returns a name as it is compared: llama.cpp takes names in any case, with dashes or without underscores. */
const plain = (name: string): string => name.toLowerCase().replace(/[-_]/g, "");

/** The place of each sampler; -1: none. */
const PLACES: ReadonlyMap<string, number> = new Map([
  ...CHAIN.flatMap(([names], place) => names.map((name) => [plain(name), place] as const)),
  [plain(INFILL), CHAIN.length],
  [plain(ADAPTIVE), -1],
]);

/** llama.cpp's letters for samplers. */
const LETTERS: ReadonlyMap<string, string> = new Map([
  ["e", "penalties"],
  ["d", "dry"],
  ["s", "top_n_sigma"],
  ["k", "top_k"],
  ["y", "typ_p"],
  ["p", "top_p"],
  ["m", "min_p"],
  ["x", "xtc"],
  ["t", "temperature"],
  ["i", INFILL],
  ["a", ADAPTIVE],
]);

/**
 * Returns settings that switch off omitted samplers. A string has their letters. Unknown names and letters are skipped,
 * as by llama.cpp, which has dropped samplers that clients still name. `adapts`: the request sets `adaptive_target`.
 * Throws SvcError about another order.
 */
export function decodeSamplers(given: string | readonly string[] | null | undefined, adapts: boolean): Sampling {
  if (given == null) return {};
  const letters = typeof given === "string";
  const samplers = letters ? [...given].flatMap((letter) => LETTERS.get(letter) ?? []) : given;
  const places = new Set<number>();
  let last = -1;
  for (const [at, name] of samplers.entries()) {
    const place = PLACES.get(plain(name));
    if (place === undefined || (place < 0 && !adapts)) continue;
    if (place <= last) throw misplaced(letters ? "samplers" : `samplers.${at}`);
    places.add(place);
    last = place;
  }
  return Object.assign({}, ...CHAIN.filter((_, at) => !places.has(at)).map(([, off]) => off));
}

function misplaced(param: string): SvcError {
  const names = CHAIN.map(([[name]]) => name).join(", ");
  return new SvcError("unsupported_parameter", `'${param}': samplers are applied in this order: ${names}.`, { param });
}

/** The names of the samplers in this order. */
export const samplerNames: readonly string[] = CHAIN.map(([[name = ""]]) => name);
