// What operators can see and control of upstreams.

import type { UpstreamStatus } from "../domain/upstream.ts";
import type { MetricTable } from "../telemetry/exposition.ts";

export interface Upstreams {
  /** Returns the upstreams that the operator named, in that order, then discovered ones. */
  status(): readonly UpstreamStatus[];
  /**
   * Sets whether replicas drain: they get no new requests and finish those that they have. Without `url`, applies to
   * all replicas of the upstream. Returns undefined when there is no such upstream or replica.
   */
  setDraining(name: string, isDraining: boolean, url?: string): UpstreamStatus | undefined;
  /** Returns metrics for a scrape: of each replica, and of each model that requests were sent to. */
  metrics(): readonly MetricTable[];
}
