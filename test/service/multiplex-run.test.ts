import { expect, test } from "bun:test";
import { ByteBudget } from "../../src/domain/byte-budget.ts";
import { systemClock } from "../../src/domain/clock.ts";
import { defaultMediaLimits } from "../../src/media/limits.ts";
import { GenerationService } from "../../src/service/generation.ts";
import { HeldAnswer } from "../../src/service/held-answer.ts";
import { localRouter } from "../../src/service/local-model.ts";
import { MultiplexRun, type MultiplexItem } from "../../src/service/multiplex-run.ts";
import { RequestService } from "../../src/service/request.ts";
import { RecordingMetrics } from "../http/harness.ts";
import { EarlyEngine, FakeEngine, type FakeScript } from "../support/fake-text-engine.ts";
import { plainRequest } from "../support/request.ts";

const MB = 2 ** 20;

/** Sets up a batch of one item, whose texts are its reasoning and finish reason, with an engine that follows this script. */
function setUp(script: FakeScript, held?: HeldAnswer, Engine = FakeEngine) {
  const engine = new Engine(() => script);
  const subject = { kind: "text", model: "fake-model" };
  const clock = systemClock;
  const metrics = new RecordingMetrics();
  const requests = new RequestService({ metrics, clock, maxQueue: 9, queueTimeoutMs: 0, subject });
  const router = localRouter(engine, 1);
  const generation = new GenerationService({ router, requests, clock, mediaLimits: defaultMediaLimits });
  const item: MultiplexItem = {
    customId: "mine",
    request: plainRequest("hi"),
    origin: { id: "batch/0" },
    held,
    async *texts(events) {
      for await (const event of events) {
        if (event.type === "finish") yield event.reason;
        if (event.type === "reasoning") yield event.text;
      }
    },
    failure: String,
  };
  const { signal } = new AbortController();
  return new MultiplexRun("batch", [item], { generation, answersAtOnce: 1, signal, onEnd() {} });
}

test("an item can be cancelled until it has ended, even if its answer is not read yet", async () => {
  const quick = setUp({ steps: [{ text: "a" }] });
  expect((await quick.texts().next()).value).toBe("stop");
  expect(quick.cancel("mine")).toBe(false);
  const endless = setUp({ steps: [{ wait: new Promise(() => {}) }] });
  expect(endless.cancel("other")).toBe(false);
  const cut = endless.texts().next();
  expect([endless.cancel("mine"), endless.cancel("mine")]).toEqual([true, false]);
  expect((await cut).value).toBe("cancelled");
});

test.each(["cancel", "cancelAll"] as const)("%s ends no item whose answer is complete but unread", async (how) => {
  const run = setUp({ steps: [{ type: "reasoning", text: "hm" }] }, undefined, EarlyEngine);
  const texts = run.texts();
  expect((await texts.next()).value).toBe("hm");
  expect(run[how]("mine")).toBe(false);
  expect((await texts.next()).value).toBe("stop");
});

test("an answer that is sent whole takes memory until the client has read it", async () => {
  const budget = new ByteBudget(4 * MB);
  const texts = setUp({ steps: [{ text: "a".repeat(2 * MB) }] }, new HeldAnswer(budget)).texts();
  const reserve = () => budget.open().hold(4 * MB);
  await texts.next();
  await Bun.sleep(0);
  expect(reserve).toThrow("at capacity");
  expect((await texts.next()).done).toBe(true);
  expect(reserve).not.toThrow();
});
