import { expect, test } from "bun:test";
import type { EngineEvent } from "../../src/domain/generate.ts";
import { FakeEngine, type FakeScript } from "../../src/engine/text/fake.ts";
import { LazyEngine } from "../../src/engine/text/lazy-engine.ts";
import { until } from "../http/harness.ts";
import { plainRequest } from "../support/request.ts";

const live = new AbortController().signal;
const collect = (events: AsyncIterable<EngineEvent>) => Array.fromAsync(events);

function setUp(script: FakeScript, idleMs: number) {
  const started: FakeEngine[] = [];
  const failures: unknown[] = [];
  const lazy = new LazyEngine({
    model: { id: "small", created: 5 },
    idleMs,
    start: () => {
      const engine = new FakeEngine(() => script);
      started.push(engine);
      return engine;
    },
    onFailure: (error) => failures.push(error),
  });
  return { lazy, started, failures };
}

test("is started by its first request, kept while it is used, stopped after an idle time, and started again", async () => {
  const gate = Promise.withResolvers<void>();
  const { lazy, started } = setUp({ steps: [{ text: "a" }, { wait: gate.promise }] }, 20);
  expect(lazy.status()).toMatchObject({ state: "stopped", modelId: "small", modelCreated: 5 });
  expect(started).toBeEmpty();
  const long = collect(lazy.generate(plainRequest("hi", { id: "long" }), live));
  await until(() => started[0]?.live === 1);
  expect(lazy.status()).toMatchObject({ state: "ready", modelId: "small", modelCreated: 5 });
  expect(await lazy.tokenize("ab", live)).toEqual(Int32Array.of(97, 98));
  await Bun.sleep(60);
  expect([started.length, lazy.status().state]).toEqual([1, "ready"]);
  gate.resolve();
  expect((await long).at(-1)?.type).toBe("finish");
  await until(() => lazy.status().state === "stopped");
  expect(started[0]?.status().state).toBe("stopped");
  await collect(lazy.generate(plainRequest("hi", { id: "again" }), live));
  expect(started.length).toBe(2);
  await lazy.stop();
});

test("cancels, and ends for good when it is stopped", async () => {
  const { lazy, started } = setUp({ steps: [{ wait: new Promise(() => {}) }] }, 1000);
  const events = collect(lazy.generate(plainRequest("hi", { id: "r" }), live));
  await until(() => started[0]?.live === 1);
  lazy.cancel("r");
  expect((await events).at(-1)).toMatchObject({ type: "finish", reason: "cancelled" });
  await lazy.stop();
  expect(started[0]?.status().state).toBe("stopped");
  await expect(collect(lazy.generate(plainRequest("hi", { id: "s" }), live))).rejects.toMatchObject({
    code: "shutting_down",
  });
});

test("that cannot be started says so to the log, and to the client without the reason", async () => {
  const failures: unknown[] = [];
  const lazy = new LazyEngine({
    model: { id: "small", created: 5 },
    idleMs: 10,
    start: () => {
      throw new Error("no room on disk");
    },
    onFailure: (error) => failures.push(error),
  });
  const failure = await collect(lazy.generate(plainRequest("hi", { id: "r" }), live)).catch((error: unknown) => error);
  expect(failure).toMatchObject({ code: "engine_unavailable" });
  expect(String(failure)).not.toContain("disk");
  expect(failures).toHaveLength(1);
});
