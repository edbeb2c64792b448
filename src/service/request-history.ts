// Records running requests and the last ones that ended: models, counts and times, but no text.

import type { Clock } from "../domain/clock.ts";
import type { Progress, RequestRecord } from "../domain/request-record.ts";

/** Number of ended requests to remember. */
const REMEMBERED = 100;

/** A request at its beginning, its changing counts, and its outcome. */
type Begun = Pick<RequestRecord, "id" | "kind" | "model" | "client">;
type Running = Pick<RequestRecord, "promptTokens" | "processedTokens" | "completionTokens">;
type Outcome = Pick<RequestRecord, "reason" | "error" | "usage" | "firstTextMs"> & { readonly progress?: Progress };

interface Live {
  readonly begun: Begun;
  /** Begin on the monotonic clock, in milliseconds. */
  readonly since: number;
  readonly admittedAt: number;
  readonly counts: Running;
  readonly outcome: Outcome;
  /** Whether the request is being computed; set by the request. */
  isRunning: boolean;
}

export class RequestHistory {
  private readonly running = new Set<Live>();
  /** Ended requests, the oldest first. */
  private readonly past: RequestRecord[] = [];

  constructor(private readonly clock: Clock) {}

  /** Adds an admitted request; `counts` and `outcome` are read at every listing until the request ends. */
  begin(begun: Begun, counts: Running, outcome: Outcome): Live {
    const { clock } = this;
    const entry = { begun, since: clock.now(), admittedAt: clock.wall(), counts, outcome, isRunning: false };
    this.running.add(entry);
    return entry;
  }

  /** Records that a request has ended, with the values of its outcome. */
  ended(entry: Live): void {
    this.running.delete(entry);
    this.past.push(this.record(entry, "ended"));
    if (this.past.length > REMEMBERED) this.past.shift();
  }

  /** Returns running requests in order of admission, then ended ones, the newest first. */
  list(): RequestRecord[] {
    return [...this.live(), ...this.past.toReversed()];
  }

  /** Returns running requests in order of admission. */
  live(): RequestRecord[] {
    return [...this.running].map((entry) => this.record(entry, entry.isRunning ? "running" : "waiting"));
  }

  /** Returns the progress of the running request of this id, of several the newest; undefined while unknown. */
  progressOf(id: string): Progress | undefined {
    return [...this.running].findLast(({ begun, outcome }) => begun.id === id && outcome.progress)?.outcome.progress;
  }

  private record({ begun, since, admittedAt, counts, outcome }: Live, state: RequestRecord["state"]): RequestRecord {
    const { reason, error, usage, firstTextMs } = outcome;
    const { processedTokens } = counts;
    return {
      ...begun,
      state,
      admittedAt,
      ms: this.clock.now() - since,
      promptTokens: usage?.promptTokens || counts.promptTokens,
      completionTokens: usage?.completionTokens || counts.completionTokens,
      ...(processedTokens !== undefined && { processedTokens }),
      ...(reason && { reason }),
      ...(error && { error }),
      ...(usage && { usage }),
      ...(firstTextMs !== undefined && { firstTextMs }),
    };
  }
}
