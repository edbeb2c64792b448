// Reduces a failing request as far as it still fails.

import { placesOf, Raw, remove, type Fields } from "./mutate.ts";

const MOST_TRIES = 300;

/** Returns the smallest failing request found by removing fields and items one by one. */
export async function smallest(value: unknown, fails: (value: unknown) => Promise<boolean>): Promise<unknown> {
  let best = value;
  let tries = 0;
  for (let index = 0; tries < MOST_TRIES; tries++) {
    const copy = copied(best);
    const place = placesOf(copy)[index];
    if (!place) break;
    remove(place.parent, place.key);
    if (await fails(copy)) best = copy;
    else index++;
  }
  return best;
}

function copied(value: unknown): unknown {
  if (value instanceof Raw || typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(copied);
  return Object.fromEntries(Object.entries(value as Fields).map(([key, field]) => [key, copied(field)]));
}
