// Attempts of one request side by side: the first that says something goes on, and the others end.

import type { EngineEvent } from "../domain/generate.ts";
import type { Attempt } from "./attempt.ts";
import type { Attempts } from "./attempts.ts";

/** An attempt under way. */
interface Racer {
  readonly attempt: Attempt;
  readonly events: AsyncGenerator<EngineEvent, void, void>;
  /** Ends it there. */
  readonly stop: AbortController;
  next: Promise<Step>;
}

interface Step {
  readonly racer?: Racer;
  readonly result?: IteratorResult<EngineEvent, void>;
  readonly error?: unknown;
}

export interface RaceOptions {
  readonly attempts: Attempts;
  /** Asks the attempt's replica; `signal` ends it. */
  readonly ask: (attempt: Attempt, signal: AbortSignal) => AsyncGenerator<EngineEvent, void, void>;
  /** Milliseconds of silence after which a second replica is asked as well; undefined: never. */
  readonly hedgeAfterMs: number | undefined;
}

/**
 * The events of the attempt, or of a second one that began later and spoke earlier. Returns whether the request was answered:
 * where it was not, all that was asked has failed, nothing of an answer went out, and `attempts` know. Throws what ends the
 * request.
 */
export async function* race(
  first: Attempt,
  { attempts, ask, hedgeAfterMs }: RaceOptions,
): AsyncGenerator<EngineEvent, boolean, void> {
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
  try {
    while (racers.size > 0) {
      const steps = [...racers].map(({ next }) => next);
      const { racer, result, error } = await Promise.race(isHedged ? steps : [...steps, late]);
      if (!racer) {
        isHedged = true;
        const second = attempts.next();
        if (second) begin(second);
        if (second) second.replica.stats.hedges++;
      } else if (!result) {
        finish(racer);
        attempts.failed(racer.attempt.replica, error);
      } else if (result.done) return true;
      else if (isOutput(result.value)) {
        for (const other of racers) if (other !== racer) finish(other);
        yield result.value;
        yield* racer.events;
        return true;
      } else {
        yield result.value;
        pull(racer);
      }
    }
    return false;
  } finally {
    clearTimeout(timer);
    for (const racer of racers) finish(racer);
  }

  function finish(racer: Racer): void {
    racers.delete(racer);
    racer.stop.abort(new Error("another replica was first"));
    void racer.events.return().catch(() => {});
    racer.attempt.end();
  }
}

function pull(racer: Racer): void {
  racer.next = racer.events.next().then(
    (result) => ({ racer, result }),
    (error: unknown) => ({ racer, error }),
  );
}

const isOutput = ({ type }: EngineEvent): boolean => type !== "accepted" && type !== "started";
