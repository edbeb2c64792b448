// Decides which running request is preempted for a waiting one.

import type { Sequence } from "../sequence.ts";

/** A request runs for at least this long before it is preempted for another client's request. */
const SHORTEST_TURN_MS = 250;

/** Returns the newest running background request, or undefined if the waiting request is in the background too. */
export function yieldingTo({ background }: Sequence, running: readonly Sequence[]): Sequence | undefined {
  return background ? undefined : running.findLast((other) => other.background);
}

/** Returns a background request, else a request of a client with more than its share that has run its turn, if any. */
export function victimFor(sequence: Sequence, running: readonly Sequence[], now: number): Sequence | undefined {
  const yielding = yieldingTo(sequence, running);
  if (yielding) return yielding;
  if (sequence.background && running.some(({ background }) => !background)) return undefined;
  const counts = new Map<string, number>();
  for (const { client } of running) counts.set(client, (counts.get(client) ?? 0) + 1);
  const most = Math.max(...counts.values());
  if (most < 2 || (counts.get(sequence.client) ?? 0) + 1 >= most) return undefined;
  return running.findLast(
    ({ client, admittedAt }) => counts.get(client) === most && now - admittedAt >= SHORTEST_TURN_MS,
  );
}
