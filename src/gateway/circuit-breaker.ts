// A circuit breaker: after consecutive failures a server gets no requests for a while, then one that tries it.

const FAILURES = 2;
const FIRST_PAUSE_MS = 1000;
type BreakerState = "closed" | "open" | "half-open";

/** What shows that a failed server has recovered: either that it lists its models, or only a successful request. */
export type Remedy = "list" | "request";

/** A listing costs nobody's request, so a restarted server need not wait long for one. */
const LONGEST_PAUSE_MS: Readonly<Record<Remedy, number>> = { list: 3000, request: 30_000 };

export class CircuitBreaker {
  /** Consecutive failures. */
  private failures = 0;
  private pauses = 0;
  private openUntil: number | undefined;
  private isTrying = false;
  /** What would remedy the last failure; undefined when there is none. */
  remedy: Remedy | undefined;

  /** `now` returns monotonic milliseconds. */
  constructor(private readonly now: () => number) {}

  /** The state; `half-open`: the pause is over, and one request may try the server. */
  get state(): BreakerState {
    if (this.openUntil === undefined) return "closed";
    return this.now() >= this.openUntil && !this.isTrying ? "half-open" : "open";
  }

  /** Milliseconds until the server is tried again; 0 if it may get requests now. */
  get pauseMs(): number {
    return this.openUntil === undefined ? 0 : Math.max(0, this.openUntil - this.now());
  }

  /**
   * Records that a request is sent; the caller must report its outcome with one of the four methods below. Returns true
   * if it is the one that tries the server.
   */
  begin(): boolean {
    if (this.state !== "half-open") return false;
    this.isTrying = true;
    return true;
  }

  /** Records a complete success, which clears all failures. */
  succeeded(): void {
    this.failures = 0;
    this.pauses = 0;
    this.openUntil = undefined;
    this.isTrying = false;
    this.remedy = undefined;
  }

  /** Records a response: the server gets requests again after its pause, but the next failure continues the series. */
  answered(): void {
    if (this.pauseMs > 0) return;
    this.openUntil = undefined;
    this.isTrying = false;
  }

  /** Records that the server is sick: it does not respond, or fails by itself. */
  failed(remedy: Remedy): void {
    // Failures of requests that were in flight when the server broke are not counted again.
    if (this.pauseMs > 0) return;
    this.isTrying = false;
    this.remedy = remedy;
    if (++this.failures < FAILURES) return;
    this.openUntil = this.now() + Math.min(FIRST_PAUSE_MS * 2 ** this.pauses++, LONGEST_PAUSE_MS[remedy]);
  }

  /** Records that the request that tries the server was dropped before an answer, and so showed nothing. */
  abandoned(): void {
    this.isTrying = false;
  }
}
