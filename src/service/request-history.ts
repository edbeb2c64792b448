// Records running requests and the last ones that ended: models, counts and times, but no text.

import type { Clock } from "../domain/clock.ts";
import type { RequestRecord } from "../domain/request-record.ts";

/** Number of ended requests to remember. */
const REMEMBERED = 100;

/** A request at its beginning, its changing counts, and its outcome. */
type Begun = Pick<RequestRecord, "id" | "kind" | "model" | "client">;
type Running = Pick<RequestRecord, "promptTokens" | "processedTokens" | "completionTokens">;
type Outcome = Pick<RequestRecord, "reason" | "error" | "usage" | "firstTextMs">;

interface Live {
  readonly begun: Begun;
  /** Begin on the monotonic clock, in milliseconds. */
  readonly since: number;
  readonly admittedAt: number;
  readonly progress: Running;
  readonly outcome: Outcome;
  isRunning: boolean;
}

/** One request in the history. */
interface HistoryEntry {
  /** Marks the request as being computed. */
  readonly running: () => void;
  /** Marks the request as ended with the values of its outcome. */
  readonly ended: () => void;
}

export class RequestHistory {
  private readonly running = new Set<Live>();
  /** Ended requests, the oldest first. */
  private readonly past: RequestRecord[] = [];

  constructor(private readonly clock: Clock) {}

  /** Adds an admitted request; `progress` and `outcome` are read at every listing until the request ends. */
  begin(begun: Begun, progress: Running, outcome: Outcome): HistoryEntry {
    const { clock, running, past } = this;
    const entry = { begun, since: clock.now(), admittedAt: clock.wall(), progress, outcome, isRunning: false };
    running.add(entry);
    return {
      running: () => void (entry.isRunning = true),
      ended: () => {
        running.delete(entry);
        // A request whose reader stopped early has no reason.
        past.push({ reason: "cancelled", ...this.record(entry, "ended") });
        if (past.length > REMEMBERED) past.shift();
      },
    };
  }

  /** Returns running requests in order of admission, then ended ones, the newest first. */
  list(): RequestRecord[] {
    return [...this.live(), ...this.past.toReversed()];
  }

  /** Returns running requests in order of admission. */
  live(): RequestRecord[] {
    return [...this.running].map((entry) => this.record(entry, entry.isRunning ? "running" : "waiting"));
  }

  private record({ begun, since, admittedAt, progress, outcome }: Live, state: RequestRecord["state"]): RequestRecord {
    const { reason, error, usage, firstTextMs } = outcome;
    const { processedTokens } = progress;
    return {
      ...begun,
      state,
      admittedAt,
      ms: this.clock.now() - since,
      promptTokens: usage?.promptTokens || progress.promptTokens,
      completionTokens: usage?.completionTokens || progress.completionTokens,
      ...(processedTokens !== undefined && { processedTokens }),
      ...(reason && { reason }),
      ...(error && { error }),
      ...(usage && { usage }),
      ...(firstTextMs !== undefined && { firstTextMs }),
    };
  }
}
