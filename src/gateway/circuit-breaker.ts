// Whether a server is asked at all: after failures in a row it is left alone for a while, then tried with one request.

const FAILURES = 2;
const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 30_000;

type BreakerState = "closed" | "open" | "half-open";

/** What shows that a server is well again that failed: that it lists its models, or a request alone. */
export type Remedy = "list" | "request";

export class CircuitBreaker {
  /** In a row. */
  private failures = 0;
  private pauses = 0;
  private openUntil: number | undefined;
  private probing = false;
  /** What makes the last failure good; undefined: there is none that counts. */
  remedy: Remedy | undefined;

  /** `now`: monotonic milliseconds. */
  constructor(private readonly now: () => number) {}

  /** `half-open`: the pause is over, and one request may show whether the server is well. */
  get state(): BreakerState {
    if (this.openUntil === undefined) return "closed";
    return this.now() >= this.openUntil && !this.probing ? "half-open" : "open";
  }

  /** Milliseconds until the server is tried again; 0 when it may be asked now. */
  get pauseMs(): number {
    return this.openUntil === undefined ? 0 : Math.max(0, this.openUntil - this.now());
  }

  /** A request goes out; what it shows has to be reported by one of the four below. True: it is the one that tries the server. */
  begin(): boolean {
    if (this.state !== "half-open") return false;
    this.probing = true;
    return true;
  }

  /** The server did all of what it was asked to: its failures are forgotten. */
  succeeded(): void {
    this.failures = 0;
    this.pauses = 0;
    this.openUntil = undefined;
    this.probing = false;
    this.remedy = undefined;
  }

  /** It answers, whatever comes of that: after its pause it gets requests again, and its next failure is one in the same row. */
  answered(): void {
    if (this.pauseMs > 0) return;
    this.openUntil = undefined;
    this.probing = false;
  }

  /** The server is sick: it does not answer, or fails by itself. */
  failed(remedy: Remedy = "request"): void {
    // Requests that were under way when it broke are no news.
    if (this.pauseMs > 0) return;
    this.probing = false;
    this.remedy = remedy;
    if (++this.failures < FAILURES) return;
    this.openUntil = this.now() + Math.min(FIRST_PAUSE_MS * 2 ** this.pauses++, LONGEST_PAUSE_MS);
  }

  /** The request that tried the server showed nothing about it: it was dropped before an answer. */
  abandoned(): void {
    this.probing = false;
  }
}
