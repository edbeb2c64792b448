// Narrows a regular expression to texts of certain lengths.

import { matchLengths, type Regex } from "./regex.ts";
import type { Sequence } from "./regex-normal.ts";

type Repeat = Regex & { readonly kind: "repeat" };

/** A repetition whose length can change in steps of `width` code points. */
interface Slider {
  readonly index: number;
  readonly repeat: Repeat;
  readonly width: number;
}

/**
 * Returns alternatives whose texts all have `min` to `max` code points and match the given ones. Alternatives without
 * such a text are left out. Returns undefined when one of them cannot be narrowed.
 */
export function withLengths(alternatives: readonly Sequence[], min: number, max: number): Sequence[] | undefined {
  const out: Sequence[] = [];
  for (const sequence of alternatives) {
    const [low, high] = matchLengths({ kind: "sequence", items: sequence });
    if (low > max || high < min) continue;
    const narrowed = low >= min && high <= max ? sequence : narrow(sequence, min, max);
    if (!narrowed) return undefined;
    out.push(narrowed);
  }
  return out;
}

function narrow(sequence: Sequence, min: number, max: number): Sequence | undefined {
  const sliders = sequence.flatMap((item, index) => slider(item, index) ?? []);
  const sliding = new Set(sliders.map(({ index }) => index));
  const rest = sequence.filter((_, index) => !sliding.has(index));
  const [restLow, restHigh] = matchLengths({ kind: "sequence", items: rest });

  let low = restLow + sliders.reduce((sum, { repeat, width }) => sum + width * repeat.min, 0);
  const counts = sliders.map(({ repeat, width }) => {
    const more = Math.min(repeat.max - repeat.min, Math.ceil(Math.max(0, min - low) / width));
    low += more * width;
    return repeat.min + more;
  });
  let room = max - low - (restHigh - restLow);
  if (low < min || room < 0) return undefined;

  // The remaining length is shared out evenly, so that no part of the text is reduced to its minimum.
  const out = [...sequence];
  for (const [position, { index, repeat, width }] of sliders.entries()) {
    const count = counts[position] ?? 0;
    const share = Math.floor(room / (sliders.length - position) / width);
    const more = Math.min(repeat.max - count, share);
    room -= more * width;
    out[index] = { ...repeat, min: count, max: count + more };
  }
  return out;
}

function slider(item: Regex, index: number): Slider | undefined {
  if (item.kind !== "repeat" || item.max === item.min) return undefined;
  const [low, high] = matchLengths(item.item);
  return low === high && low > 0 ? { index, repeat: item, width: low } : undefined;
}
