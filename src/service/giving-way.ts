// Who gives way when all places of one kind are taken: without this, one client could keep them from all others.

/** The part of all places that no other client can take from one. */
const OWN_SHARE = 1 / 4;

/**
 * Returns the clients of which one has to give one of its places, of `most` in all, to another that found none free: those
 * that have more than their own share and would still have as many as the other, the one with the most first. `holders`
 * names the client of each place.
 */
export function givingWay(holders: Iterable<string>, client: string, most: number): readonly string[] {
  const counts = new Map<string, number>();
  for (const holder of holders) counts.set(holder, (counts.get(holder) ?? 0) + 1);
  const wanted = (counts.get(client) ?? 0) + 1;
  if (wanted > Math.max(1, most * OWN_SHARE)) return [];
  return [...counts]
    .filter(([, count]) => count > Math.max(wanted, most * OWN_SHARE))
    .toSorted(([, one], [, other]) => other - one)
    .map(([holder]) => holder);
}
