// Which replicas a request is sent to, one after another, as long as asking again is safe and may help.

import { pause } from "./deadline.ts";
import type { Replica } from "./replica.ts";
import type { Upstream } from "./upstream.ts";
import { unreachable, type UpstreamFailure } from "./upstream-failure.ts";

/** Rounds through all replicas, and the longest pause between two. */
const ROUNDS = 3;
const LONGEST_PAUSE_MS = 2000;
const FIRST_PAUSE_MS = 100;

export class Attempts {
  private readonly tried = new Set<Replica>();
  private failure: UpstreamFailure | undefined;

  constructor(
    private readonly upstream: Upstream,
    private readonly model: string,
    /** Requests with the same key go to the same replica while it has room. */
    private readonly key: string,
  ) {}

  /** What went wrong with the replica that was given last. */
  failed(failure: UpstreamFailure): void {
    this.failure = failure;
  }

  /**
   * The next replica to ask, with pauses between rounds, until no more should be: then it throws the last failure. Each has
   * the request in its count from when it is chosen, so that others chosen at the same time see it, until the next one is
   * asked for or no more are. Throws SvcError `upstream_unavailable` when there was none to ask, and the signal's reason.
   */
  async *replicas(signal: AbortSignal): AsyncGenerator<Replica, void, void> {
    for (let round = 0; round < ROUNDS;) {
      const replica = this.choose();
      if (replica) {
        this.tried.add(replica);
        const end = replica.begin();
        try {
          yield replica;
        } finally {
          end();
        }
        continue;
      }
      if (++round >= ROUNDS || !this.failure) break;
      const { code, details } = this.failure.error;
      const busyMs = code === "server_busy" ? (details.retryAfterSeconds ?? 0) * 1000 : 0;
      if (busyMs > LONGEST_PAUSE_MS) break;
      await pause(Math.max(busyMs, FIRST_PAUSE_MS * 2 ** round), signal);
      this.tried.clear();
    }
    throw this.failure ?? unreachable("cannot be reached");
  }

  private choose(): Replica | undefined {
    try {
      return this.upstream.choose(this.model, this.key, this.tried);
    } catch (error) {
      // What went wrong with those that were asked says more.
      if (this.failure) return undefined;
      throw error;
    }
  }
}
