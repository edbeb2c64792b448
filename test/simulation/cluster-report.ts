// Compares the choice of replicas by affinity with rotation and least load, for clusters of several sizes.

import { percentile } from "../bench/stats.ts";
import { simulateCluster, type ClusterLoad } from "./cluster.ts";

/** Scaled from 100,000 people on 512 replicas, with three agents per replica. */
const loadOf = (replicas: number): Omit<ClusterLoad, "policy"> => ({
  replicas,
  users: Math.round((100_000 * replicas) / 512),
  agents: 3 * replicas,
  seconds: 120,
  gateways: 1,
  failing: 0,
});

const CASES: readonly (readonly [name: string, Pick<ClusterLoad, "policy"> & Partial<ClusterLoad>])[] = [
  ["affinity", { policy: "affinity" }],
  ["– 1 % of the replicas fails a minute", { policy: "affinity", failing: 0.01 }],
  ["– two gateways that do not know each other", { policy: "affinity", gateways: 2 }],
  ["rotation", { policy: "rotation" }],
  ["least loaded", { policy: "least loaded" }],
];

/** Prints one table per size. */
export function reportClusters(sizes: readonly number[]): void {
  for (const replicas of sizes) {
    const load = loadOf(replicas);
    console.log(
      `\n### ${replicas} replicas (large GPU, 8 B), ${load.users} people, ${load.agents} agents, 2 minutes\n`,
    );
    console.log("| choice | outages | requests | hit rate | first token p50, ms | p95 | busiest / mean |");
    console.log("|---|---|---|---|---|---|---|");
    for (const [name, own] of CASES) {
      const { requests, outages, hitRate, firstTokenMs, imbalance } = simulateCluster({ ...load, ...own });
      const cells = [
        outages,
        requests,
        `${(100 * hitRate).toFixed(0)} %`,
        percentile(firstTokenMs, 0.5).toFixed(0),
        percentile(firstTokenMs, 0.95).toFixed(0),
        imbalance.toFixed(2),
      ];
      console.log(`| ${name} | ${cells.join(" | ")} |`);
    }
  }
}
