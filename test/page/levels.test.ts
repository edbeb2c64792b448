import { expect, test } from "bun:test";
import { ago, bytes, contextLength, duration, promptProgress, rate } from "../../src/page/logic/format.ts";
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
  expect(abilitiesOf(list)).toEqual({ speech: true, transcription: true });
});

test("numbers have a readable form", () => {
  expect([bytes(0), bytes(999), bytes(479_916_032), bytes(4_500_000)]).toEqual([
    "0 bytes",
    "999 bytes",
    "480 MB",
    "4.5 MB",
  ]);
  expect([contextLength(131_072), contextLength(4096), contextLength(1000)]).toEqual(["128K", "4K", "1K"]);
  expect([rate(0), rate(0.844), rate(37.24), rate(2679)]).toEqual(["0", "0.84", "37.2", "2,679"]);
  expect([duration(43), duration(2310), duration(125_000), duration(3_720_000)]).toEqual([
    "43 ms",
    "2.31 s",
    "2 min 5 s",
    "1 h 2 min",
  ]);
  const now = Date.UTC(2026, 0, 31, 12);
  expect([1000, 3e5, 864e5, 864e6, 864e7].map((before) => ago(now - before, now))).toEqual([
    "just now",
    "5 minutes ago",
    "yesterday",
    "21 January",
    "23 October 2025",
  ]);
});

test("a prompt in progress shows how much of it is computed, and a finished one its length", () => {
  const shown = (prompt_tokens: number, processed_prompt_tokens?: number) =>
    promptProgress({ prompt_tokens, ...(processed_prompt_tokens !== undefined && { processed_prompt_tokens }) });
  expect([shown(4096, 1024), shown(4096, 4096), shown(4096), shown(0)]).toEqual([
    "1,024 of 4,096",
    "4,096",
    "4,096",
    "–",
  ]);
});
