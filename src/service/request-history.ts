// Requests that run and the last ones that ended: what each is computed by, its counts and times, and nothing of its text.

import type { Clock } from "../domain/clock.ts";
import type { RequestRecord } from "../domain/request-record.ts";

/** Requests that are remembered after their end. */
const REMEMBERED = 100;

/** A request as it begins, what changes while it runs, and how it went. */
type Begun = Pick<RequestRecord, "id" | "kind" | "model" | "client">;
type Running = Pick<RequestRecord, "promptTokens" | "processedTokens" | "completionTokens">;
type Outcome = Pick<RequestRecord, "reason" | "error" | "usage" | "firstTextMs">;

interface Live {
  readonly begun: Begun;
  /** Of the clock that only goes forward. */
  readonly since: number;
  readonly admittedAt: number;
  readonly progress: Running;
  readonly outcome: Outcome;
  isRunning: boolean;
}

/** One request in the history. */
interface HistoryEntry {
  /** It is computed from now on. */
  readonly running: () => void;
  /** It has ended as its outcome says. */
  readonly ended: () => void;
}

export class RequestHistory {
  private readonly running = new Set<Live>();
  /** The oldest first. */
  private readonly past: RequestRecord[] = [];

  constructor(private readonly clock: Clock) {}

  /** A request was admitted; the last two are read whenever somebody looks, until it has ended. */
  begin(begun: Begun, progress: Running, outcome: Outcome): HistoryEntry {
    const { clock, running, past } = this;
    const entry = { begun, since: clock.now(), admittedAt: clock.wall(), progress, outcome, isRunning: false };
    running.add(entry);
    return {
      running: () => void (entry.isRunning = true),
      ended: () => {
        running.delete(entry);
        // Whoever stops reading has no reason to give.
        past.push({ reason: "cancelled", ...this.record(entry, "ended") });
        if (past.length > REMEMBERED) past.shift();
      },
    };
  }

  /** Those that run in the order of their admission, then those that ended, the newest first. */
  list(): RequestRecord[] {
    return [...this.live(), ...this.past.toReversed()];
  }

  /** Those that run, in the order of their admission. */
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
