// Exports the replicas of an upstream as metrics.

import { isOut } from "../domain/upstream.ts";
import { gauge, type Metric, type MetricTable } from "../telemetry/exposition.ts";
import type { Replica } from "./replica.ts";
import type { Upstream } from "./upstream.ts";

/** Returns a table for each replica, with its upstream and its URL as labels. */
export const replicaMetrics = ({ name, replicas }: Upstream): MetricTable[] =>
  replicas.map((replica) => ({ labels: { upstream: name, replica: replica.url }, metrics: metricsOf(replica) }));

/** Returns the metrics of a replica. */
export function metricsOf({ state, inFlight, stats }: Pick<Replica, "state" | "inFlight" | "stats">): Metric[] {
  const flag = (is: boolean) => (is ? 1 : 0);
  return [
    gauge(
      "svc_upstream_up",
      "0 while the replica is down after repeated failures or refuses svc's key; otherwise 1.",
      flag(!isOut(state)),
    ),
    gauge(
      "svc_upstream_slow",
      "1 while requests wait at the replica and it has sent nothing for unusually long.",
      flag(state === "slow"),
    ),
    gauge(
      "svc_upstream_draining",
      "1 while the replica is draining or drained.",
      flag(state === "draining" || state === "drained"),
    ),
    gauge("svc_upstream_requests_running", "Running requests of the replica.", inFlight),
    ...stats.metrics(),
  ];
}
