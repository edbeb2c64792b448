// Small loads with all checks on; `npm run simulate` runs the large ones.

import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { LIMITS } from "../scheduler/fake-engine.ts";
import { simulateCluster } from "./cluster.ts";
import { COST as cost, everyoneFinishes } from "./everyone-finishes.ts";
import { simulate } from "./simulate.ts";
import { adapted, agents, backgroundFlood, chat, documents, flood, disconnects, type Trace } from "./traces.ts";

// Other processes may be using the cores.
setDefaultTimeout(60_000);

everyoneFinishes([chat(6, 150), agents(2, 300, 1), flood(6, 4), backgroundFlood(2, 3), disconnects(8)]);

test("no request starves: the longest wait for a first token is bounded by the work before it", () => {
  const trace = flood(64, 30);
  const { outcomes, ms } = simulate(trace, { ...LIMITS, cells: 8192, sequences: 24 }, cost);
  const people = outcomes.filter(({ client }) => client !== "batch");
  expect(Math.max(...people.map(({ firstTokenMs }) => firstTokenMs))).toBeLessThan(2_000);
  expect(Math.max(...outcomes.map(({ firstTokenMs }) => firstTokenMs))).toBeLessThan(ms);
});

test("people next to background work get their first token as if they were alone", () => {
  const limits = { ...LIMITS, cells: 8192, sequences: 24 };
  const slowest = (trace: Trace) => {
    const people = simulate(trace, limits, cost).outcomes.filter(({ client }) => client !== "batch");
    return Math.max(...people.map(({ firstTokenMs }) => firstTokenMs));
  };
  const alone = slowest({ name: "people", arrivals: flood(0, 30).arrivals });
  expect(slowest(backgroundFlood(64, 30))).toBeLessThan(2 * alone);
});

describe.each([
  [0, "without", (trace: Trace) => trace],
  [0, "with", adapted],
  [64, "without", (trace: Trace) => trace],
  [64, "with", adapted],
] as const)("long documents, chunks of %d that can be paused, %s adapters", (chunk, _, form) => {
  const limits = { ...LIMITS, cells: 16_384, sequences: 24, parallel: 8, batch: 256, chunk };
  const run = (background: number) => {
    const { outcomes } = simulate(form(documents(3, 40, background)), limits, cost);
    const of = (client: string) => outcomes.filter((outcome) => outcome.client.startsWith(client));
    return { readers: of("reader"), people: of("user"), batch: of("batch") };
  };
  const longest = (values: readonly number[]) => Math.max(...values);
  const { readers, people, batch } = run(4);
  const alone = run(0);
  const streams = [...readers, ...people];

  test("are not overtaken for longer than they take, whatever else is requested", () => {
    const prompts = readers.length * cost(0, 1_500);
    expect(longest(readers.map(({ firstTokenMs }) => firstTokenMs))).toBeLessThan(2.5 * prompts);
  });

  test("do not stop the other streams", () => {
    const steps = 4 * cost(limits.parallel, 0);
    const gaps = streams.flatMap(({ gapsMs }) => gapsMs).toSorted((a, b) => a - b);
    expect(gaps[Math.floor(gaps.length * 0.9)]).toBeLessThan(LIMITS.stallBudgetMs + steps);
    // People who wait for their first token at the same time may take longer.
    expect(longest(gaps)).toBeLessThan(200 * limits.parallel);
  });

  test("in the background come after all others and are answered in the end", () => {
    const slowest = (outcomes: typeof streams) => longest(outcomes.map(({ firstTokenMs }) => firstTokenMs));
    // Background work that has just begun is not interrupted.
    const begun = cost(0, limits.batch);
    expect(slowest(readers)).toBeLessThan(1.25 * slowest(alone.readers) + begun);
    expect(slowest(people)).toBeLessThan(1.25 * slowest(alone.people) + begun);
    expect(batch.map(({ finished }) => finished)).toEqual([true, true, true, true]);
  });
});

describe("the choice of replicas", () => {
  const load = { replicas: 8, users: 800, agents: 24, seconds: 60, gateways: 1, failing: 0 } as const;
  const affinity = simulateCluster({ ...load, policy: "affinity" });

  test("by affinity finds most of the prompts cached, by rotation far fewer", () => {
    expect(affinity.hitRate).toBeGreaterThan(0.5);
    expect(simulateCluster({ ...load, policy: "rotation" }).hitRate).toBeLessThan(0.7 * affinity.hitRate);
  });

  test("stays effective with gateways that share nothing", () => {
    expect(simulateCluster({ ...load, policy: "affinity", gateways: 2 }).hitRate).toBeGreaterThan(
      0.9 * affinity.hitRate,
    );
  });

  test("meets as many failures as configured", () => {
    const failing = simulateCluster({ ...load, policy: "affinity", failing: 1 / load.replicas });
    expect([affinity.outages, failing.outages]).toEqual([0, 1]);
  });

  test("continues while replicas fail", () => {
    const failing = simulateCluster({ ...load, policy: "affinity", failing: 0.5 });
    expect(failing.firstTokenMs.length).toBeGreaterThan(0.8 * affinity.firstTokenMs.length);
  });
});
