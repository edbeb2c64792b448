// What operators see and steer of other servers.

import type { UpstreamStatus } from "../domain/upstream.ts";
import type { MetricTable } from "../telemetry/exposition.ts";

export interface Upstreams {
  /** Those that the operator named, in their order, then those that were found. */
  status(): readonly UpstreamStatus[];
  /**
   * Draining replicas get no new requests; those that they have end in order. Without `url` all replicas of the upstream
   * drain, or get requests again. Undefined when there is no such upstream, or no such replica of it.
   */
  setDraining(name: string, isDraining: boolean, url?: string): UpstreamStatus | undefined;
  /** What a scrape reads: of each replica, and of each model that requests were sent to. */
  metrics(): readonly MetricTable[];
}
