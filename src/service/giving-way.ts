// Who gives way when all places of one kind are taken: without this, one client could keep them from all others.

/** The part of all places that no other client can take from one. */
export const OWN_SHARE = 1 / 4;

/**
 * Returns the client that has to give one of its places, of `most` in all, to another that found none free: the one with
 * the most, if it has more than its own share and would still have as many as the other. `holders` names the client of
 * each place. Undefined: nobody.
 */
export function givesWay(holders: Iterable<string>, client: string, most: number): string | undefined {
  const counts = new Map<string, number>();
  for (const holder of holders) counts.set(holder, (counts.get(holder) ?? 0) + 1);
  const wanted = (counts.get(client) ?? 0) + 1;
  const [largest] = [...counts].toSorted(([, one], [, other]) => other - one);
  if (!largest || wanted > Math.max(1, most * OWN_SHARE)) return undefined;
  return largest[1] > Math.max(wanted, most * OWN_SHARE) ? largest[0] : undefined;
}
