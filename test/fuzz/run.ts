// Sends mutated requests of one API, several at a time, and judges every answer. The same seed gives the same
// requests.

import { dice, type Dice } from "../support/dice.ts";
import { judge } from "./judge.ts";
import { mutated, write } from "./mutate.ts";
import { seeds } from "./seeds.ts";
import { smallest } from "./shrink.ts";
import { targets, type TargetName } from "./targets.ts";
import { exchange, transportOf, type Transport } from "./wire.ts";

export interface Failure {
  readonly seed: number;
  readonly transport: string;
  readonly problem: string;
  /** The smallest request found with the same problem. */
  readonly request: string;
}

export interface Outcome {
  /** Counts of answers by kind. */
  readonly kinds: ReadonlyMap<string, number>;
  readonly failures: readonly Failure[];
}

/** Concurrent requests: fewer than there are places, so that only requests for several answers may find none. */
const CLIENTS = 4;
/** After this many failures the run stops. */
const ENOUGH = 5;

/** Sends requests number `first` to `first + count` of `seed`. */
export async function fuzz(
  name: TargetName,
  {
    port,
    seed,
    first,
    count,
  }: { readonly port: number; readonly seed: number; readonly first: number; readonly count: number },
): Promise<Outcome> {
  const kinds = new Map<string, number>();
  const failures: Failure[] = [];
  let next = first;
  const client = async () => {
    while (next < first + count && failures.length < ENOUGH) {
      const own = (seed * 1_000_003 + next++) | 0;
      const { value, transport } = requestOf(name, dice(own));
      const problem = await tried(name, port, value, transport, kinds);
      if (problem === undefined) continue;
      const fails = async (other: unknown) => (await tried(name, port, other, transport)) !== undefined;
      const request = write(await smallest(value, fails));
      failures.push({ seed: own, transport: transport.name, problem, request: request.slice(0, 2000) });
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  return { kinds, failures };
}

function requestOf(name: TargetName, roll: Dice): { readonly value: unknown; readonly transport: Transport } {
  const valid = seeds[name];
  const seed = valid[roll(valid.length)] ?? {};
  // One in twenty is sent unchanged, because the seeds must remain valid.
  return { value: roll(20) === 0 ? seed : mutated(seed, valid, roll), transport: transportOf(roll) };
}

/** Returns the problem of the answer to this request, or undefined. */
async function tried(
  name: TargetName,
  port: number,
  value: unknown,
  transport: Transport,
  kinds?: Map<string, number>,
): Promise<string | undefined> {
  try {
    const answer = await exchange(port, targets[name].path, Buffer.from(write(value)), transport);
    const kind = judge(name, answer, transport);
    kinds?.set(kind, (kinds.get(kind) ?? 0) + 1);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Returns the result as a few lines. */
export const report = (name: TargetName, { kinds, failures }: Outcome): string =>
  [
    `${name}: ${[...kinds]
      .sort(([, a], [, b]) => b - a)
      .map(([kind, count]) => `${count} ${kind}`)
      .join(", ")}`,
    ...failures.map(
      ({ seed, transport, problem, request }) => `  seed ${seed}, ${transport}: ${problem}\n    ${request}`,
    ),
  ].join("\n");
