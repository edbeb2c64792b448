// Runs attempts of one request concurrently: the first with output continues, the others are ended.

import type { EngineEvent } from "../domain/generate.ts";
import type { Attempt } from "./attempt.ts";
import type { Attempts } from "./attempts.ts";

type Events = AsyncGenerator<EngineEvent, void, void>;

/** An attempt in flight. */
interface Racer {
  readonly attempt: Attempt;
  readonly events: Events;
  /** Aborts the attempt at its replica. */
  readonly stop: AbortController;
  next: Promise<Step>;
}

interface Step {
  readonly racer?: Racer;
  readonly result?: IteratorResult<EngineEvent, void>;
  readonly error?: unknown;
}

interface RaceOptions {
  readonly attempts: Attempts;
  /** Sends the request to the attempt's replica, and ends the attempt; `signal` aborts both. */
  readonly ask: (attempt: Attempt, signal: AbortSignal) => Events;
  /** Milliseconds of silence after which a second replica also gets the request; undefined: never. */
  readonly hedgeAfterMs: number | undefined;
}

/** An answer that has begun, or that ended without output. */
export interface Winner {
  readonly attempt: Attempt;
  readonly first?: EngineEvent;
  readonly rest: Events;
}

/**
 * Sends the request to the attempt's replica, and later perhaps to a second one. Emits the events before an answer, and
 * returns the answer that begins first; undefined when all attempts have failed, which are recorded in `attempts`.
 * Throws what ends the request, when no attempt is left.
 */
export async function* race(
  first: Attempt,
  { attempts, ask, hedgeAfterMs }: RaceOptions,
): AsyncGenerator<EngineEvent, Winner | undefined, void> {
  const racers = new Set<Racer>();
  const begin = (attempt: Attempt) => {
    const stop = new AbortController();
    const racer: Racer = { attempt, events: ask(attempt, stop.signal), stop, next: Promise.resolve({}) };
    racers.add(racer);
    pull(racer);
  };
  begin(first);
  const { promise: late, resolve } = Promise.withResolvers<Step>();
  const timer = hedgeAfterMs === undefined ? undefined : setTimeout(() => resolve({}), hedgeAfterMs);
  let isHedged = timer === undefined;
  let fatal: { readonly failure: unknown } | undefined;
  try {
    while (racers.size > 0) {
      const steps = [...racers].map(({ next }) => next);
      const { racer, result, error } = await Promise.race(isHedged ? steps : [...steps, late]);
      if (!racer) {
        isHedged = true;
        const second = attempts.next();
        if (!second) continue;
        second.replica.stats.hedges++;
        begin(second);
      } else if (!result) {
        racers.delete(racer);
        try {
          attempts.failed(racer.attempt.replica, error);
        } catch (failure) {
          // Another replica that has the request may still answer it.
          fatal ??= { failure };
        }
      } else if (result.done || isOutput(result.value)) {
        racers.delete(racer);
        return { attempt: racer.attempt, ...(!result.done && { first: result.value }), rest: racer.events };
      } else {
        pull(racer);
        yield result.value;
      }
    }
    if (fatal) throw fatal.failure;
    return undefined;
  } finally {
    clearTimeout(timer);
    for (const { attempt, stop, events } of racers) {
      attempts.released(attempt.replica);
      stop.abort(new Error("another replica was first"));
      void events.return().catch(() => {});
    }
  }
}

function pull(racer: Racer): void {
  racer.next = racer.events.next().then(
    (result) => ({ racer, result }),
    (error: unknown) => ({ racer, error }),
  );
}

const BEFORE_OUTPUT: ReadonlySet<EngineEvent["type"]> = new Set(["accepted", "started", "progress"]);

const isOutput = ({ type }: EngineEvent): boolean => !BEFORE_OUTPUT.has(type);
