import { describe, expect, test } from "bun:test";
import { systemClock } from "../../src/domain/clock.ts";
import { SvcError } from "../../src/domain/errors.ts";
import type { GenerateRequest } from "../../src/domain/generate.ts";
import type { RequestOrigin } from "../../src/domain/request-origin.ts";
import { EarlyEngine, FakeEngine, fakeModel, type FakeScript } from "../support/fake-text-engine.ts";
import { dataUrl, flag } from "../media/files.ts";
import { defaultMediaLimits } from "../../src/media/limits.ts";
import { localRouter } from "../../src/service/local-model.ts";
import { InputReaders } from "../../src/service/input-readers.ts";
import { GenerationService } from "../../src/service/generation.ts";
import { RequestService, type RequestReport } from "../../src/service/request.ts";
import type { MetricSubject, RequestMetrics } from "../../src/telemetry/metrics.ts";
import { RecordingMetrics } from "../http/harness.ts";
import { plainRequest } from "../support/request.ts";
import { until } from "../support/until.ts";

const never = new Promise<void>(() => {});
const request = (id: string): GenerateRequest => plainRequest("hi", { id });
const live = new AbortController().signal;

/** Also records the times between pieces of text, and tokens. */
class TimedMetrics extends RecordingMetrics {
  readonly pausesMs: number[] = [];
  /** Tokens generated for requests that have ended. */
  generated = 0;
  override of(subject: MetricSubject): RequestMetrics {
    const counts = super.of(subject);
    return {
      ...counts,
      interToken: (ms) => {
        this.pausesMs.push(ms);
        counts.interToken(ms);
      },
      finished: (reason, usage, ms) => {
        this.generated += usage.completionTokens;
        counts.finished(reason, usage, ms);
      },
      failed: (code, ms, tokens = 0) => {
        this.generated += tokens;
        counts.failed(code, ms);
      },
    };
  }
}

interface Limits {
  readonly parallel?: number;
  readonly maxQueue?: number;
  readonly mediaBytes?: number;
  readonly engine?: FakeEngine;
  readonly readers?: InputReaders;
}

function setUp(
  script: FakeScript,
  { parallel = 2, mediaBytes, readers, engine = new FakeEngine(() => script), ...limits }: Limits = {},
) {
  const metrics = new TimedMetrics();
  const time = { now: 1_000_000 };
  const clock = { ...systemClock, now: () => time.now, wall: () => 0 };
  const subject = { kind: "text", model: "fake-model" };
  const requests = new RequestService({ metrics, clock, maxQueue: 1, queueTimeoutMs: 0, subject, ...limits });
  const router = localRouter(engine, parallel);
  const media = {
    mediaLimits: defaultMediaLimits,
    ...(mediaBytes !== undefined && { mediaBytes }),
    ...(readers && { readers }),
  };
  const generation = new GenerationService({ router, requests, clock, ...media });
  const generate = ({ id, background, ...own }: GenerateRequest, signal = live, report: RequestReport = {}) =>
    generation.generate([own], { id, ...(background && { background }) }, signal, report);
  return { engine, metrics, generation, generate, requests, time };
}

describe("a generation", () => {
  test("reports prompt progress in its state, and to the client only on request", async () => {
    const progress = { type: "progress", total: 12, cached: 4, processed: 8, ms: 1 } as const;
    const gate = Promise.withResolvers<void>();
    const { requests, generate } = setUp({ steps: ["accept", progress, { wait: gate.promise }, { text: "Hi" }] });
    const quiet = Array.fromAsync(generate(request("a")));
    const wanted = Array.fromAsync(generate({ ...request("b"), returnProgress: true }));
    while (requests.history.live().some(({ processedTokens }) => processedTokens === undefined)) await Bun.sleep(1);
    expect(requests.history.live().map(({ id, processedTokens }) => [id, processedTokens])).toEqual([
      ["a", 8],
      ["b", 8],
    ]);
    gate.resolve();
    expect((await quiet).map(({ type }) => type)).toEqual(["accepted", "text", "finish"]);
    expect((await wanted).map(({ type }) => type)).toEqual(["accepted", "progress", "text", "finish"]);
    expect(requests.history.live()).toEqual([]);
  });

  test("passes events through, and reports and measures itself once", async () => {
    const { requests, generate, metrics, time } = setUp({ steps: [{ text: "a" }, { text: "b" }, { text: "c" }] });
    const report: RequestReport = {};
    const kinds = [];
    for await (const event of generate(request("r"), live, report)) {
      kinds.push(event.type);
      time.now += 10;
    }
    expect(kinds).toEqual(["accepted", "text", "text", "text", "finish"]);
    expect(report).toMatchObject({ reason: "stop", firstTextMs: 10, usage: { promptTokens: 12, completionTokens: 3 } });
    expect(metrics.calls).toEqual(["started", "first", "inter", "inter", "finished stop"]);
    expect(metrics.pausesMs).toEqual([10, 10]);
    expect([requests.activeCount, requests.registeredCount]).toEqual([0, 0]);
  });

  test("with several answers measures each answer separately", async () => {
    const { generate, metrics, time } = setUp({ steps: [{ text: "a" }, { text: "b" }, { text: "c" }] });
    const report: RequestReport = {};
    const seen = [];
    for await (const event of generate({ ...request("r"), choices: 2 }, live, report)) {
      seen.push(event.type === "text" ? event.choice : event.type);
      time.now += 10;
    }
    expect(seen).toEqual(["accepted", 0, 1, 0, 1, 0, 1, "finish", "finish"]);
    expect(metrics.pausesMs).toEqual([20, 20, 20, 20]);
    expect(report.firstTextMs).toBe(10);
  });

  test("that fails releases its place and is counted under its error code", async () => {
    for (const [fail, code] of [
      [new SvcError("engine_crashed", "gone"), "engine_crashed"],
      [new Error("bug"), "internal_error"],
    ] as const) {
      const { requests, generate, metrics } = setUp({ steps: [{ text: "a" }, { fail }] });
      const report: RequestReport = {};
      await expect(Array.fromAsync(generate(request("r"), live, report))).rejects.toBe(fail);
      expect(report.error).toBe(code);
      expect(metrics.calls.at(-1)).toBe(`failed ${code}`);
      expect(metrics.generated).toBe(1);
      expect([requests.activeCount, requests.registeredCount]).toEqual([0, 0]);
    }
  });

  test("whose consumer stops early releases its place, and what was generated counts", async () => {
    const { requests, generate, engine, metrics } = setUp({ steps: [{ text: "a" }, { text: "b" }] });
    for await (const event of generate(request("r"))) if (event.type === "text") break;
    expect(metrics.generated).toBe(1);
    expect([requests.activeCount, requests.registeredCount, engine.live]).toEqual([0, 0, 0]);
  });

  test("whose events are never read takes no place", () => {
    const { requests, generate } = setUp({ steps: [] });
    generate(request("r"));
    expect(requests.activeCount).toBe(0);
  });

  test("whose signal is aborted ends with the abort reason and counts as cancelled", async () => {
    const { requests, generate, engine, metrics } = setUp({ steps: [{ text: "a" }, { wait: never }] });
    const controller = new AbortController();
    const events = Array.fromAsync(generate(request("r"), controller.signal));
    await Bun.sleep(0);
    controller.abort(new Error("left"));
    await expect(events).rejects.toThrow("left");
    await Bun.sleep(0);
    expect(engine.aborted).toEqual(["r"]);
    expect(metrics.calls.at(-1)).toBe("finished cancelled");
    expect([requests.activeCount, requests.registeredCount]).toEqual([0, 0]);
  });
});

describe("cancelling", () => {
  test("before a request reaches the engine keeps it from the engine and finishes each of its answers", async () => {
    const { requests, generate, engine, metrics } = setUp({ steps: [{ text: "a" }] });
    const events = Array.fromAsync(generate({ ...request("r"), choices: 2 }));
    expect(requests.cancel("r")).toBe(true);
    expect(await events).toMatchObject([
      { type: "accepted", promptTokens: 0 },
      { type: "finish", reason: "cancelled", choice: 0 },
      { type: "finish", reason: "cancelled", choice: 1 },
    ]);
    expect([engine.requests, metrics.calls]).toEqual([[], ["started", "finished cancelled"]]);
  });

  test("is possible until the last answer has ended", async () => {
    const { requests, generate } = setUp({ steps: [{ text: "a" }] });
    const registered: number[] = [];
    for await (const event of generate({ ...request("r"), choices: 2 })) {
      if (event.type === "finish") registered.push(requests.registeredCount);
    }
    expect(registered).toEqual([1, 0]);
  });

  test("reaches no answer that is complete but unread, and instead an older request with the same id", async () => {
    const done: FakeScript = { steps: [{ text: "a" }] };
    const endless: FakeScript = { steps: [{ text: "b" }, { wait: never }] };
    const engine = new EarlyEngine(({ sampling }) => (sampling.seed === undefined ? done : endless));
    const { requests, generate } = setUp(done, { engine });
    const older = Array.fromAsync(generate({ ...request("r"), sampling: { seed: 1 } }));
    await until(() => engine.live === 1);
    const newer = generate(request("r"));
    expect((await newer.next()).value).toMatchObject({ type: "accepted" });
    expect([requests.cancel("r"), requests.cancel("r")]).toEqual([true, false]);
    expect((await older).at(-1)).toMatchObject({ type: "finish", reason: "cancelled" });
    expect((await Array.fromAsync(newer)).at(-1)).toMatchObject({ type: "finish", reason: "stop" });
  });

  test("reaches the answers that are not begun when others are complete but unread", async () => {
    const { requests, generate } = setUp({ steps: [] }, { engine: new EarlyEngine(() => ({ steps: [] })) });
    const events = generate({ ...request("r"), choices: 2 });
    await events.next();
    expect([requests.cancel("r"), requests.cancel("r")]).toEqual([true, false]);
    expect(await Array.fromAsync(events)).toMatchObject([
      { type: "finish", reason: "stop", choice: 0 },
      { type: "finish", reason: "cancelled", choice: 1 },
    ]);
  });

  test("is not reported for a request whose media cannot be loaded", async () => {
    const { generate, engine } = setUp({ steps: [{ text: "a" }] });
    const source = { kind: "image", url: "data:,", detail: "auto" } as const;
    const content = [{ type: "media", source, param: "messages.0" }] as const;
    const failed = Array.fromAsync(generate({ ...request("r"), messages: [{ role: "user", content }] }));
    await expect(failed).rejects.toMatchObject({ code: "unsupported_media_input", details: { param: "messages.0" } });
    expect(engine.requests).toEqual([]);
  });
});

test("images of all requests share a memory limit and free it when their request ends; small images always fit", async () => {
  const { engine, generate, generation } = setUp(
    { steps: [{ wait: never }] },
    { mediaBytes: 2 * 2 ** 20, parallel: 4 },
  );
  engine.model = { ...fakeModel, vision: true };
  const [large, small] = [dataUrl(flag(900, 900)), dataUrl(flag(32, 32))];
  const withPicture = (id: string, url: string): GenerateRequest => {
    const source = { kind: "image", url, detail: "auto" } as const;
    const content = [{ type: "media", source, param: "image" } as const];
    return { ...request(id), messages: [{ role: "user", content }] };
  };
  const begin = async (id: string, url: string) => {
    const answer = generate(withPicture(id, url));
    await answer.next();
    return answer;
  };
  const first = await begin("a", large);
  await begin("small", small);
  await expect(begin("b", large)).rejects.toMatchObject({ code: "server_busy", details: { retryAfterSeconds: 2 } });
  await expect(generation.countTokens(withPicture("c", large), live)).rejects.toMatchObject({ code: "server_busy" });
  await first.return();
  await begin("d", large);
});

test("what is read from a request's images takes places of the request's holder, which no engine is told", async () => {
  const asked: RequestOrigin[] = [];
  const read = (origin: RequestOrigin) => {
    asked.push(origin);
    return Promise.resolve({ kind: "image" as const, model: "reader", text: "EXIT", pageCount: 1 });
  };
  const image = { open: () => Promise.resolve({ content: "", manner: "", read }) };
  const { engine, generation } = setUp({ steps: [{ text: "a" }] }, { readers: new InputReaders({ image }) });
  const source = { kind: "image", url: "data:,", detail: "auto" } as const;
  const { id, ...own } = plainRequest("", { id: "r" });
  const shown = {
    ...own,
    messages: [{ role: "user" as const, content: [{ type: "media" as const, source, param: "image" }] }],
  };
  await Array.fromAsync(generation.generate([shown], { id, holder: "10.0.0.1" }, live));
  expect(asked).toMatchObject([{ holder: "10.0.0.1", partOf: "placed" }]);
  expect(engine.requests).toHaveLength(1);
  expect(engine.requests[0]).not.toHaveProperty("holder");
});
