import { expect, test } from "bun:test";
import { noSteps } from "../../src/domain/steps.ts";
import { nobodyWaits } from "../../src/domain/waiting.ts";
import { noKvStats } from "../../src/engine/text/kv-stats.ts";
import { TextStats } from "../../src/engine/text/stats.ts";

function start() {
  const time = { ms: 123_456 };
  const stats = new TextStats({ now: () => time.ms, wall: () => 0 });
  const value = (wanted: string, label?: string) => {
    const samples = stats
      .metrics(4, 100)
      .flatMap((metric) => (metric.type !== "histogram" && metric.name === wanted ? metric.samples : []));
    return samples.find(([labels]) => label === undefined || Object.values(labels).includes(label))?.[1];
  };
  return { time, stats, value };
}

test("counters continue when an engine process ends, and gauges are those of the running process", () => {
  const { stats, value } = start();
  const kv = { ...noKvStats, used: 50, preempted: 3, steps: 20 };
  const levels = { running: 2, waiting: 1, waitingFor: { ...nobodyWaits, cells: 1 }, kv };
  const read = () => [
    stats.levels.running,
    stats.levels.waiting,
    value("svc_num_requests_waiting_by_reason", "cells"),
    value("svc_kv_cache_used_tokens"),
    value("svc_kv_cache_usage_perc"),
    value("svc_num_preemptions_total"),
    value("svc_engine_steps_total"),
  ];
  stats.update({ levels });
  // A report of steps alone leaves the gauges unchanged.
  stats.update({ steps: noSteps() });
  expect(read()).toEqual([2, 1, 1, 50, 0.5, 3, 20]);
  stats.processEnded();
  expect(read()).toEqual([0, 0, 0, 0, 0, 3, 20]);
  stats.processEnded();
  stats.update({ levels: { ...levels, kv: { ...kv, used: 25, preempted: 4, steps: 1 } } });
  expect(read()).toEqual([2, 1, 1, 25, 0.25, 7, 21]);
});

test("the expected time until a place is free runs from its report, and is unknown without one", () => {
  const { stats, time } = start();
  const levels = { running: 1, waiting: 0, waitingFor: nobodyWaits, kv: noKvStats };
  expect(stats.placeFreeMs()).toBeUndefined();
  stats.update({ levels: { ...levels, placeFreeMs: 500 } });
  time.ms += 200;
  expect(stats.placeFreeMs()).toBe(300);
  time.ms += 1000;
  expect(stats.placeFreeMs()).toBe(0);
  stats.update({ levels });
  expect(stats.placeFreeMs()).toBeUndefined();
});
