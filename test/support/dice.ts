// Repeatable random choices.

/** Whole numbers below 2³², always the same for one seed (mulberry32). */
function words(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
}

/** Numbers from 0 to below 1, always the same for one seed. */
export function randomNumbers(seed: number): () => number {
  const next = words(seed);
  return () => next() / 2 ** 32;
}

/** Whole numbers below a bound, always the same for one seed. */
export function dice(seed: number): (below: number) => number {
  const next = words(seed);
  return (below) => next() % below;
}

export type Dice = ReturnType<typeof dice>;

/** Picks one item of a list that is not empty. */
export const pick = <Item>(roll: Dice, items: readonly [Item, ...Item[]]): Item =>
  items[roll(items.length)] ?? items[0];
