// Decides which running request is preempted for a waiting one.

import type { Sequence } from "../sequence.ts";

/** A request runs for at least this long before it is preempted for another client's request. */
const SHORTEST_TURN_MS = 250;

/** Returns a background request, else a request of a client with more than its share that has run its turn, if any. */
export function victimFor(sequence: Sequence, running: readonly Sequence[], now: number): Sequence | undefined {
  const inBackground = newestInBackground(running);
  if (inBackground && !sequence.background) return inBackground;
  if (sequence.background && running.some(({ background }) => !background)) return undefined;
  const { counts, most } = shares(running);
  if (most < 2 || (counts.get(sequence.client) ?? 0) + 1 >= most) return undefined;
  return running.findLast(
    ({ client, admittedAt }) => counts.get(client) === most && now - admittedAt >= SHORTEST_TURN_MS,
  );
}

/** Returns the newest request in the background, else that of the client with the most requests. */
export function dispensable(running: readonly Sequence[]): Sequence | undefined {
  const { counts, most } = shares(running);
  return newestInBackground(running) ?? running.findLast(({ client }) => counts.get(client) === most);
}

const newestInBackground = (running: readonly Sequence[]) => running.findLast(({ background }) => background);

/** Returns how many requests of each client run, and the most of any. */
function shares(running: readonly Sequence[]): { readonly counts: ReadonlyMap<string, number>; readonly most: number } {
  const counts = new Map<string, number>();
  for (const { client } of running) counts.set(client, (counts.get(client) ?? 0) + 1);
  return { counts, most: Math.max(...counts.values()) };
}
