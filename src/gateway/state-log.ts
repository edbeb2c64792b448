// Logs state changes of replicas, each change once.

import type { Clock } from "../domain/clock.ts";
import { isOut, type ReplicaState } from "../domain/upstream.ts";
import type { Logger } from "../telemetry/log.ts";
import type { Replica } from "./replica.ts";
import type { Upstream } from "./upstream.ts";

export class StateLog {
  private readonly known = new WeakMap<Replica, { readonly state: ReplicaState; readonly since: number }>();

  constructor(
    private readonly log: Logger,
    private readonly clock: Clock,
  ) {}

  /** Logs changes since the last call; a new replica is logged only if something is wrong with it. */
  write(upstreams: readonly Upstream[]): void {
    for (const { name, replicas } of upstreams) for (const replica of replicas) this.compare(name, replica);
  }

  private compare(upstream: string, replica: Replica): void {
    const { state } = replica;
    const before = this.known.get(replica);
    if (before?.state === state) return;
    const now = this.clock.now();
    this.known.set(replica, { state, since: now });
    if (!before && (state === "up" || state === "unknown")) return;
    const { lastError, retryMs } = replica.status();
    const fields = {
      upstream,
      replica: replica.url,
      running: replica.inFlight,
      ...(before && { before: before.state, for_ms: Math.round(now - before.since) }),
      ...(isOut(state) && { why: lastError }),
      ...(state === "down" && { retry_ms: Math.round(retryMs ?? 0) }),
    };
    const level = isOut(state) || state === "slow" ? "warn" : "info";
    this.log[level](`upstream replica is ${state}`, fields);
  }
}
