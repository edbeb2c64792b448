import { expect, test } from "bun:test";
import { levelsOf, lineOf } from "../../src/page/logic/metrics.ts";
import { abilitiesOf, capabilityNames, modelsOf } from "../../src/page/logic/models.ts";
import { hello, serve } from "../http/harness.ts";
import type { ModelList } from "../../src/contract/model.ts";
import { PrometheusMetrics } from "../../src/telemetry/prometheus.ts";
import { systemClock } from "../../src/domain/clock.ts";

test("the levels are those reported by the server, added over all engines", () => {
  const metrics = new PrometheusMetrics(systemClock);
  metrics.of({ kind: "text", model: "m" }).firstToken(5);
  const text = metrics.render({
    version: "0",
    engines: [],
    registered: 0,
    residentBytes: 1,
    cpuSeconds: 1,
    sessions: 0,
    jobs: undefined,
  });
  expect(levelsOf(text)).toMatchObject({ running: 0, kvSize: 0 });
  expect(levelsOf(text).tokensPerSecond).toBeGreaterThan(0);
  const sizes = ['{model="a } 1"} 2', '{model="b"} 0.5'].map((rest) => `svc_kv_cache_size_tokens${rest}\n`);
  expect(levelsOf(sizes.join("")).kvSize).toBe(2.5);
});

test("a chart ends at the right, with its highest value at the top", () => {
  const box = { slots: 5, width: 40, height: 10, most: 2 };
  expect(lineOf([1, 4], box)).toEqual({ line: "M30 7.5L40 0", area: "M30 7.5L40 0L40 10L30 10Z" });
  expect(lineOf([1], box).line).toBe("M40 5");
  expect(lineOf([], box)).toEqual({ line: "", area: "" });
});

test("chat models come first, and the system model is left out", async () => {
  const list = (await (await fetch(`${serve(hello).url}/v1/models`)).json()) as ModelList;
  const models = modelsOf(list);
  expect(models.map(({ id, use }) => [id, use])).toEqual([
    ["fake-model", "chat"],
    ["fake-drawer", "image"],
  ]);
  expect(models[0]?.context).toBe(4096);
  expect(models.flatMap(capabilityNames)).toEqual(["Tools", "Thinking", "Makes images"]);
  expect(abilitiesOf(list)).toEqual({ speech: true });
});
