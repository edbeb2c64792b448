// Limits the requests with one API key.

import type { Clock } from "../../domain/clock.ts";
import { retryAfterSeconds, SvcError } from "../../domain/errors.ts";

const MINUTE_MS = 60_000;
/** Suggested wait in milliseconds: it is unknown when another request with the same key will end. */
const SOON_MS = 1000;

interface KeyLimitOptions {
  /** Most requests in any minute; 0: no limit. */
  readonly perMinute: number;
  /** Most requests at once; 0: no limit. */
  readonly concurrent: number;
  readonly clock: Clock;
}

/** The requests of one key. */
interface Usage {
  live: number;
  /** When the latest `perMinute` requests came, as a ring; `next` is the index of the oldest. */
  readonly times: number[];
  next: number;
}

export class KeyLimits {
  private readonly usages = new Map<string, Usage>();

  constructor(private readonly options: KeyLimitOptions) {}

  /**
   * Counts a request with a key of this name. Returns a function to call once when the request has ended. Throws
   * SvcError `rate_limit_exceeded`; a refused request does not count.
   */
  enter(name: string): () => void {
    const { perMinute, concurrent, clock } = this.options;
    const usage = this.usages.get(name) ?? { live: 0, times: [], next: 0 };
    this.usages.set(name, usage);
    if (concurrent > 0 && usage.live >= concurrent) throw exceeded(concurrent, "at once", SOON_MS);
    if (perMinute > 0) {
      const now = clock.now();
      const waitMs = (usage.times[usage.next] ?? -Infinity) + MINUTE_MS - now;
      if (waitMs > 0) throw exceeded(perMinute, "a minute", waitMs);
      usage.times[usage.next] = now;
      usage.next = (usage.next + 1) % perMinute;
    }
    usage.live++;
    return () => void usage.live--;
  }
}

function exceeded(limit: number, how: string, waitMs: number): SvcError {
  const message = `The rate limit of this API key is reached: ${limit} ${limit === 1 ? "request" : "requests"} ${how}.`;
  return new SvcError("rate_limit_exceeded", message, { retryAfterSeconds: retryAfterSeconds(waitMs) });
}
