// Profiles in the engine, with a native library without a model.

import { expect, setDefaultTimeout, test } from "bun:test";
import type { DecodeResult } from "../../ffi/llama/api.ts";
import { noSpeculation } from "../../src/domain/speculation.ts";
import { systemClock } from "../../src/domain/clock.ts";
import { noUsage } from "../../src/domain/usage.ts";
import { Engine } from "../../src/engine/text/child/engine.ts";
import type { ReadyPrompt } from "../../src/engine/text/child/intake.ts";
import { Profiler } from "../../src/engine/text/child/profiler.ts";
import type { EngineOptions, FromTextEngine } from "../../src/engine/text/protocol.ts";
import { FakeLlama } from "../support/fake-llama.ts";
import { plainRequest } from "../support/request.ts";

setDefaultTimeout(30_000);

const OPTIONS = {
  maxModelLen: 256,
  microBatch: 64,
  parallel: 4,
  stallBudgetMs: 50,
  sampling: {},
} as unknown as EngineOptions;

/** Runs requests with steps of 40 ms each; resolves with the finish events by key. */
async function run(contents: readonly (readonly [string, boolean])[], cancelled?: number) {
  const messages: FromTextEngine[] = [];
  const llama = new FakeLlama(256, 40);
  const profiler = new Profiler({ ...llama.model(), bytes: 1_000_000, kvTokenBytes: 1000 }, systemClock);
  const engine = new Engine(llama, OPTIONS, (message) => messages.push(message), systemClock, undefined, [profiler]);
  engine.run().catch((error) => expect.unreachable(String(error)));
  contents.forEach(([content, profile], key) => {
    engine.submit(key, { type: "generate", request: plainRequest(content, profile ? { profile: true } : {}) });
  });
  if (cancelled !== undefined) setTimeout(() => engine.cancel(cancelled, "id"), 60);
  const ends = () => messages.flatMap((message) => (message.type === "events" ? message.finished : []));
  const finishes = () => ends().flatMap(({ key, event }) => (event.type === "finish" ? [{ key, event }] : []));
  while (finishes().length < contents.length) await Bun.sleep(5);
  return new Map(finishes().map(({ key, event }) => [key, event]));
}

test("a profile is included only when the request asks for it", async () => {
  const finishes = await run([
    ["say abc|", true],
    ["say abc|", false],
  ]);
  expect(finishes.get(0)?.profile).toMatchObject({ weightsBytes: 1_000_000, kvBytes: 256_000, gpuSamples: 0 });
  expect(finishes.get(1)).not.toHaveProperty("profile");
});

test("bandwidth is the bytes read by pure decode steps divided by their time", () => {
  const profiler = new Profiler({ ...new FakeLlama().model(), bytes: 1_000_000, kvTokenBytes: 1000 }, systemClock);
  const step = (
    prefillRows: number,
    before: number,
    after: number,
    runningCells: number,
    result: DecodeResult = "done",
  ) =>
    profiler.decoded(
      {
        step: {
          rows: [],
          adapters: [],
          started: [],
          decodeRows: 1,
          prefillRows,
          speculativeRows: 0,
          steps: 1,
          together: false,
        },
        result,
        made: 1,
        before,
        after,
      },
      { runningCount: 1, waitingCount: 0, kv: { runningCells }, speculated: noSpeculation() },
    );
  const usage = noUsage();
  profiler.accepted({ key: 1, request: plainRequest("", { profile: true }) } as ReadyPrompt);
  step(1, 0, 1000, 0);
  step(0, 1000, 1010, 100);
  step(0, 1010, 2000, 100, "aborted");
  step(0, 2000, 2030, 300);
  const { event } = profiler.finished({ key: 1, event: { type: "finish", reason: "stop", usage } });
  expect(event.profile?.bandwidth).toBeCloseTo(2_400_000 / 0.04);
  step(0, 3000, 3010, 100);
  expect(profiler.finished({ key: 1, event: { type: "finish", reason: "stop", usage } }).event).toEqual({
    type: "finish",
    reason: "stop",
    usage,
  });
});

test("samples arrive in order while the request runs, with one at the end, even when it is cancelled", async () => {
  for (const cancelled of [undefined, 0]) {
    const event = (await run([[`say ${"x".repeat(15)}|`, true]], cancelled)).get(0);
    const times = event?.profile?.samples.map(({ ms }) => ms) ?? [];
    expect(event?.reason).toBe(cancelled === undefined ? "stop" : "cancelled");
    expect(times.length).toBeGreaterThanOrEqual(cancelled === undefined ? 2 : 1);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    for (const sample of event?.profile?.samples ?? []) expect(sample.residentBytes).toBeGreaterThan(1e6);
  }
});
