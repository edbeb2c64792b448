// Runs a trace through the real scheduler on a simulated clock. Its engine checks each plan.

import type { SchedulerLimits } from "../../src/scheduler/limits.ts";
import { FakeEngine, type Cost } from "../scheduler/fake-engine.ts";
import type { Arrival, Trace } from "./traces.ts";

export interface Outcome {
  readonly client: string;
  /** Milliseconds from its arrival to its first token. */
  readonly firstTokenMs: number;
  /** Milliseconds between its tokens. */
  readonly gapsMs: readonly number[];
  readonly finished: boolean;
}

export interface Simulation {
  readonly outcomes: readonly Outcome[];
  /** Milliseconds until everything was done. */
  readonly ms: number;
  readonly prefilled: number;
  readonly preemptions: number;
}

interface Due {
  readonly at: number;
  readonly key: number;
  readonly arrival: Arrival | undefined;
}

/** `exact`: compares every row's context token by token, which is slow. */
export function simulate(trace: Trace, limits: SchedulerLimits, cost: Cost, exact = false): Simulation {
  const engine = new FakeEngine(limits, cost);
  engine.keepPlans = false;
  engine.exact = exact;
  const due: Due[] = [];
  const arrivals = new Map<number, Arrival>();
  let keys = 0;
  const plan = (at: number, key: number, arrival?: Arrival) => {
    due.push({ at, key, arrival });
    due.sort((a, b) => b.at - a.at);
  };
  for (const arrival of trace.arrivals.toSorted((a, b) => a.at - b.at)) plan(arrival.at, ++keys, arrival);
  engine.onFinish = (key) => {
    const arrival = arrivals.get(key);
    const followUp = arrival?.followUp;
    if (!arrival || !followUp || followUp.turns < 1) return;
    const said = engine.jobs.get(key)?.tokens ?? [];
    const next = ++keys;
    const added = Array.from({ length: followUp.tokens }, (_, at) => next * 100_000 + at);
    const following = { ...arrival, prompt: [...said, ...added], followUp: { ...followUp, turns: followUp.turns - 1 } };
    plan(engine.now + followUp.pauseMs, next, { ...following, at: engine.now + followUp.pauseMs });
  };
  const begin = ({ at, key, arrival }: Due) => {
    if (!arrival) return engine.disconnect(key);
    arrivals.set(key, arrival);
    const { prompt, maxTokens, client, background = false, adapters = [] } = arrival;
    engine.add(key, prompt, maxTokens, client, { background, adapters });
    if (arrival.disconnectsAfter !== undefined) plan(at + arrival.disconnectsAfter, key);
  };
  for (;;) {
    for (let next = due.at(-1); next && next.at <= engine.now; next = due.at(-1)) begin(due.pop() as Due);
    if (engine.step()) continue;
    const next = due.at(-1);
    if (!next) break;
    engine.now = Math.max(engine.now, next.at);
  }
  const outcomes = [...engine.jobs].map(([key, { addedAt, tokenAt, request }]) => ({
    client: arrivals.get(key)?.client ?? "",
    firstTokenMs: (tokenAt[0] ?? Number.NaN) - addedAt,
    gapsMs: tokenAt.slice(1).map((at, index) => at - (tokenAt[index] ?? at)),
    finished: tokenAt.length === request.maxTokens,
  }));
  const { preemptions } = engine.scheduler;
  return { outcomes, ms: engine.now, prefilled: engine.prefilled, preemptions };
}
