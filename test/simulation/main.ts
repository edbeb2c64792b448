// `npm run simulate`: the effect of the scheduling policy on users, under loads and on machines that are not available,
// compared with a plain policy: no prefix reuse, a single client, prompts in whole batches. Then the effect of the
// choice of replicas, which `npm run simulate -- replicas [number…]` runs alone.

import type { SchedulerLimits } from "../../src/scheduler/limits.ts";
import { reportClusters } from "./cluster-report.ts";
import { largeGpu, smallCpu, type Machine } from "./machines.ts";
import { simulate, type Outcome } from "./simulate.ts";
import { agents, backgroundFlood, chat, flood, disconnects, type Trace } from "./traces.ts";

const LOADS: [Machine, Trace[]][] = [
  [smallCpu, [chat(60, 6_000), agents(3, 6_000, 4), flood(64, 20), backgroundFlood(64, 20), disconnects(100)]],
  [largeGpu, [chat(3_000, 40), agents(20, 40_000, 6), flood(512, 60), backgroundFlood(512, 60), disconnects(3_000)]],
];

function limitsOf({ batch, chunk, cells, parallel }: Machine): SchedulerLimits {
  const shared = {
    layout: "unified",
    sequences: Math.min(256, parallel + 64),
    canTrim: true,
    copyMs: 0,
    tile: 0,
    region: Number.POSITIVE_INFINITY,
    microBatch: 512,
    hostBytes: 0,
    tokenBytes: 1,
    offloadTokenMs: 0,
    draftMax: 0,
    draftAdaptive: true,
    hasDisk: false,
    readTokenMs: 0,
  } as const;
  return { ...shared, batch, chunk, cells, parallel, stallBudgetMs: 50, reuse: true };
}

/** The same load as a plain server would handle it. */
const plain = (trace: Trace): Trace => ({
  ...trace,
  arrivals: trace.arrivals.map((arrival) => ({ ...arrival, client: "" })),
});

function percentile(values: readonly number[], share: number): number {
  const sorted = values.filter((value) => !Number.isNaN(value)).toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

const rounded = (ms: number) => (ms >= 100 ? ms.toFixed(0) : ms.toFixed(1));

function row(name: string, outcomes: readonly Outcome[], ms: number, prefilled: number): string {
  const people = outcomes.filter(({ client }) => client !== "batch");
  const first = people.map(({ firstTokenMs }) => firstTokenMs);
  const gaps = people.flatMap(({ gapsMs }) => gapsMs);
  const good = people.filter(
    ({ firstTokenMs, gapsMs }) => firstTokenMs < 2_000 && percentile(gapsMs, 0.99) < 250,
  ).length;
  const cells = [percentile(first, 0.5), percentile(first, 0.95), percentile(gaps, 0.5), percentile(gaps, 0.99)];
  return `| ${name} | ${cells.map(rounded).join(" | ")} | ${((100 * good) / people.length).toFixed(0)} % | ${prefilled} | ${(ms / 1000).toFixed(0)} |`;
}

function reportScheduling(): void {
  for (const [machine, traces] of LOADS) {
    console.log(`\n### ${machine.name}, ${machine.parallel} at once, ${machine.cells} cells\n`);
    console.log(
      "| load | first token p50, ms | p95 | gap p50, ms | p99 | good | prompt tokens computed | all done, s |",
    );
    console.log("|---|---|---|---|---|---|---|---|");
    const limits = limitsOf(machine);
    for (const trace of traces) {
      const ours = simulate(trace, limits, machine.cost);
      console.log(row(trace.name, ours.outcomes, ours.ms, ours.prefilled));
      const asked = trace.arrivals.map(({ client }) => client);
      const theirs = simulate(plain(trace), { ...limits, reuse: false, stallBudgetMs: 100_000 }, machine.cost);
      const named = theirs.outcomes.map((outcome, at) => ({ ...outcome, client: asked[at] ?? "" }));
      console.log(row("– plain policy", named, theirs.ms, theirs.prefilled));
    }
  }
  console.log(
    "\ngood: first token within 2 s and 99 % of the gaps below 250 ms; jobs of the batch client are not counted",
  );
}

const [part, ...sizes] = process.argv.slice(2);
if (part !== "replicas") reportScheduling();
reportClusters(sizes.length > 0 ? sizes.map(Number) : [1, 8, 64, 512]);
