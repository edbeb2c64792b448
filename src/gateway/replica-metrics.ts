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
      "0 while a replica is down, as it failed several times in a row, or does not accept svc's key.",
      flag(!isOut(state)),
    ),
    gauge(
      "svc_upstream_slow",
      "1 while requests wait at a replica and nothing comes for long.",
      flag(state === "slow"),
    ),
    gauge(
      "svc_upstream_draining",
      "1 while a replica gets no new requests by the operator's will.",
      flag(state === "draining" || state === "drained"),
    ),
    gauge("svc_upstream_requests_running", "Running requests of a replica.", inFlight),
    ...stats.metrics(),
  ];
}
