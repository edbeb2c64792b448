// The life of a request, whatever it computes: a service of its own runs work whose steps are set by the test.
import { systemClock } from "../../src/domain/clock.ts";

import { afterEach, beforeEach, describe, expect, jest, test } from "bun:test";
import type { CancelCause } from "../../src/domain/cancel.ts";
import { SvcError } from "../../src/domain/errors.ts";
import { noUsage } from "../../src/domain/usage.ts";
import {
  RequestService,
  type Admitting,
  type RequestDeps,
  type RequestReport,
  type RequestSpec,
} from "../../src/service/request.ts";
import type { RequestRun } from "../../src/service/request-run.ts";

type Event = { readonly type: "accepted" | "started" | "text" | "finish"; readonly isAssumed?: true };

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

/** Lets everything run that does not wait for a timer. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

function setUp(limits: Partial<RequestDeps> = {}) {
  const time = { ms: 1_000_000 };
  /** The calls of the metrics, each with the name of its model. */
  const counted: string[] = [];
  const metrics: RequestDeps["metrics"] = {
    of: ({ model }) => {
      const count = (what: string) => void counted.push(`${model}: ${what}`);
      return {
        started: () => count("started"),
        finished: (reason, { promptTokens }, ms, times) =>
          count(`${reason}, ${promptTokens} tokens, ${[ms, ...Object.values(times ?? {})].join(" ")} ms`),
        failed: (code, ms) => count(`${code}, ${ms} ms`),
        rejected: (reason) => count(`rejected ${reason}`),
        adapterChosen() {},
        firstToken() {},
        interToken() {},
      };
    },
  };
  const clock = { ...systemClock, now: () => time.ms, wall: () => 5 * time.ms };
  const subject = { kind: "text", model: "main" };
  const service = new RequestService({ metrics, clock, maxQueue: 1, queueTimeoutMs: 0, subject, ...limits });
  const main: Admitting = { model: "main", engine: {}, parallel: 1 };

  /** Begins a request. Its work performs each step when `step` is called. */
  function begin(spec: Partial<RequestSpec> = {}, client = new AbortController()) {
    const report: RequestReport = {};
    const steps = new TransformStream<Event, Event>({}, { highWaterMark: 99 }, { highWaterMark: 99 });
    const writer = steps.writable.getWriter();
    const seen: string[] = [];
    const state = { seen, outcome: "", live: undefined as RequestRun | undefined };
    const work = {
      async begin(live: RequestRun) {
        state.live = live;
        live.signal.addEventListener("abort", () => void writer.abort(live.signal.reason));
        return steps.readable;
      },
      observe({ type }: Event, live: RequestRun) {
        if (type === "accepted") live.promptTokens = 7;
        if (type === "finish") report.reason = "stop";
      },
    };
    const events = service.run<Event>({ id: "r", backend: main, ...spec }, client.signal, report, work);
    const over = (async () => {
      for await (const { type } of events) seen.push(type);
      return "ended";
    })();
    const ended = over
      .catch((error: unknown) => (error instanceof SvcError ? error.code : String(error)))
      .then((outcome) => (state.outcome = outcome));
    const failure = over.then(
      () => undefined,
      (error: unknown) => error,
    );
    const step = async (...events: (Event["type"] | Event)[]) => {
      for (const event of events) await writer.write(typeof event === "string" ? { type: event } : event);
      await settle();
    };
    const end = async (finishes = true) => {
      if (finishes) await step("finish");
      await writer.close();
      return ended;
    };
    return { report, state, client, ended, failure, step, end };
  }
  return { service, begin, time, counted, main };
}

/** Records the calls that cancel engine jobs: key and cause. */
function cancels() {
  const calls: [string, CancelCause][] = [];
  return { calls, cancel: (key: string, cause: CancelCause) => calls.push([key, cause]) > 0 };
}

describe("a place in the queue", () => {
  test("exists for each running and each waiting request; the next request is refused and counted", async () => {
    const { begin, counted, service } = setUp();
    const [one, two, three] = [begin(), begin(), begin()];
    expect(await three.ended).toBe("server_busy");
    // The log shows the model.
    expect(three.report.model).toBe("main");
    expect(service.activeCount).toBe(2);
    expect(counted).toEqual(["main: started", "main: started", "main: rejected queue_full"]);
    expect(await one.end()).toBe("ended");
    const four = begin();
    expect([await two.end(), await four.end()]).toEqual(["ended", "ended"]);
    expect([service.activeCount, service.registeredCount]).toEqual([0, 0]);
  });

  test("is taken by each job of a request; a request with more jobs than places is admitted when it is alone", async () => {
    const { begin, main } = setUp();
    const backend = { ...main, parallel: 3 };
    const some = begin({ backend, places: 3 });
    expect(await begin({ backend, places: 2 }).ended).toBe("server_busy");
    const one = begin({ backend, places: 1 });
    await Promise.all([some.end(), one.end()]);
    const many = begin({ backend, places: 9 });
    expect(await begin({ backend }).ended).toBe("server_busy");
    expect(await many.end()).toBe("ended");
  });

  test("counts for its holder, whatever the client is called; a part of a request needs no share", async () => {
    const { begin, main } = setUp({ maxQueue: 8 });
    const backend = { ...main, parallel: 2 };
    const mine = (client: string) => ({ backend, client, holder: "10.0.0.1" });
    const other = begin({ backend, client: "same", holder: "10.0.0.2" });
    const some = Array.from({ length: 5 }, (_, count) => begin(mine(`name${count}`)));
    expect(await begin(mine("same")).ended).toBe("server_busy");
    const parts = Array.from({ length: 4 }, () => begin({ ...mine("same"), partOf: "placed" }));
    expect(await begin({ ...mine("same"), partOf: "placed" }).ended).toBe("server_busy");
    expect(await parts.pop()?.end()).toBe("ended");
    expect(await begin({ ...mine("same"), partOf: "ended" }).ended).toBe("server_busy");
    for (const one of [other, ...some, ...parts]) expect(await one.end()).toBe("ended");
  });

  test("belongs to an engine, whichever of its models a request names", async () => {
    const { begin, counted, main } = setUp({ maxQueue: 0 });
    const other = { ...main, model: "other", subject: { kind: "text", model: "other" } };
    const running = begin();
    expect(await begin({ backend: other }).ended).toBe("server_busy");
    const elsewhere = begin({ backend: { ...other, engine: {} } });
    await Promise.all([running.end(), elsewhere.end()]);
    expect(counted).toEqual([
      "main: started",
      "other: rejected queue_full",
      "other: started",
      "main: stop, 0 tokens, 0 ms",
      "other: stop, 0 tokens, 0 ms",
    ]);
  });

  test("is taken by a request with an assured place even when none is free", async () => {
    const { begin, service, main } = setUp();
    const held = [begin(), begin()];
    const assured = begin({ assured: true });
    await settle();
    await held[0]?.end();
    expect(await begin().ended).toBe("server_busy");
    expect(() => service.checkCapacity([main], {})).toThrow(expect.objectContaining({ code: "server_busy" }));
    await assured.end();
    expect(() => service.checkCapacity([main], {})).not.toThrow();
    await held[1]?.end();
  });

  test("is not taken by a request in the background", async () => {
    const { begin, service } = setUp({ maxQueue: 0 });
    const background = [begin({ background: true, places: 4 }), begin({ background: true })];
    const [one, two] = [begin(), begin()];
    expect(await two.ended).toBe("server_busy");
    expect(service.activeCount).toBe(6);
    for (const { end } of background) await end();
    expect(await begin().ended).toBe("server_busy");
    await one.end();
    expect(service.activeCount).toBe(0);
  });

  test("is expected to be free when the engine says so, otherwise after a typical request", async () => {
    const retryAfter = async (placeFreeMs?: number) => {
      const { begin, time, main } = setUp({ maxQueue: 0 });
      const spec = { backend: { ...main, engine: { placeFreeMs: () => placeFreeMs }, parallel: 2 } };
      // The typical duration is a moving mean that starts at 2 s and takes a fifth of each request's duration.
      const long = begin({ ...spec, places: 2 });
      time.ms += 62_000;
      await long.end();
      const running = begin({ ...spec, places: 2 });
      const refused = await begin(spec).failure;
      await running.end();
      return refused;
    };
    expect(await retryAfter()).toMatchObject({ details: { retryAfterSeconds: 7 } });
    expect(await retryAfter(3500)).toMatchObject({ details: { retryAfterSeconds: 4 } });
    expect(await retryAfter(10)).toMatchObject({ details: { retryAfterSeconds: 1 } });
    expect(await retryAfter(3_600_000)).toMatchObject({ details: { retryAfterSeconds: 120 } });
  });
});

describe("the time in the queue", () => {
  test("is limited between acceptance and the first computation", async () => {
    const { begin, counted, time } = setUp({ queueTimeoutMs: 100, maxQueue: 9 });
    const [loading, waiting, computed] = [begin(), begin(), begin()];
    await waiting.step("accepted");
    await computed.step("accepted", "started");
    jest.advanceTimersByTime(99);
    await settle();
    expect(waiting.state.outcome).toBe("");
    time.ms += 100;
    jest.advanceTimersByTime(1);
    expect(await waiting.failure).toMatchObject({
      code: "server_busy",
      message: expect.stringContaining("0.1 s"),
      details: { busy: "queue_timeout", retryAfterSeconds: 2 },
    });
    expect(counted.slice(-2)).toEqual(["main: rejected queue_timeout", "main: server_busy, 100 ms"]);
    jest.advanceTimersByTime(10_000);
    await loading.step("accepted", "started");
    expect([await loading.end(), await computed.end()]).toEqual(["ended", "ended"]);
  });

  test("is not limited in the background or by a limit of 0", async () => {
    for (const [queueTimeoutMs, background] of [
      [100, true],
      [0, undefined],
    ] as const) {
      const waiting = setUp({ queueTimeoutMs }).begin({ background });
      await waiting.step("accepted");
      jest.advanceTimersByTime(1e6);
      expect(await waiting.end()).toBe("ended");
    }
  });

  test("leaves no timer when the request has ended", async () => {
    const { begin } = setUp({ queueTimeoutMs: 100 });
    const waiting = begin();
    await waiting.step("accepted");
    waiting.client.abort("left");
    expect(await waiting.ended).toBe("left");
    expect(jest.getTimerCount()).toBe(0);
  });
});

describe("the deadline", () => {
  const in50ms = { deadline: 5_000_050 };

  test("that has already passed is an error before the engine receives the request", async () => {
    for (const deadline of [5_000_000, 4_000_000]) {
      const { begin, counted } = setUp();
      const late = begin({ deadline });
      expect(await late.ended).toBe("deadline_exceeded");
      expect(late.state.live).toBeUndefined();
      expect(counted).toEqual(["main: started", "main: deadline_exceeded, 0 ms"]);
    }
  });

  test("is an error before the first output; after it, the answer ends there", async () => {
    const { calls, cancel } = cancels();
    const { begin } = setUp({ maxQueue: 9 });
    const waiting = begin({ ...in50ms, cancel });
    await waiting.step("accepted", "started");
    const answering = begin({ ...in50ms, cancel, id: "a", places: 2 });
    await answering.step("accepted", "started", "text");
    jest.advanceTimersByTime(49);
    await settle();
    expect([waiting.state.outcome, calls]).toEqual(["", []]);
    jest.advanceTimersByTime(1);
    expect(await waiting.ended).toBe("deadline_exceeded");
    expect(calls).toEqual(answering.state.live?.keys.map((key) => [key, "deadline"]) ?? []);
    expect(new Set(calls.map(([key]) => key)).size).toBe(2);
    expect(await answering.end()).toBe("ended");
  });

  test("does not end another request that got the same key after this one was settled or cancelled", async () => {
    const { begin, service } = setUp({ maxQueue: 9 });
    for (const way of ["end", "id"]) {
      const { calls, cancel } = cancels();
      const older = begin({ ...in50ms, cancel });
      await older.step("accepted", "started", "text");
      if (way === "id") expect(service.cancel("r")).toBe(true);
      else older.state.live?.settled();
      const newer = begin({ cancel });
      await newer.step("accepted", "started", "text");
      expect(newer.state.live?.keys).toEqual(["r"]);
      jest.advanceTimersByTime(50);
      expect(calls).toEqual(way === "id" ? [["r", "id"]] : []);
      expect([await older.end(), await newer.end()]).toEqual(["ended", "ended"]);
    }
  });

  test("that is not reached changes nothing and leaves no timer", async () => {
    const { begin } = setUp();
    const quick = begin(in50ms);
    await quick.step("accepted", "started", "text");
    expect(await quick.end()).toBe("ended");
    expect(quick.state.seen).toEqual(["accepted", "text", "finish"]);
    // Requests of a batch share their client's signal.
    quick.client.abort("left");
    expect(quick.state.live?.signal.aborted).toBe(false);
    expect(jest.getTimerCount()).toBe(0);
  });
});

describe("cancelling", () => {
  test("by id ends every job of the newest request, once", async () => {
    const { calls, cancel } = cancels();
    const { begin, service } = setUp({ maxQueue: 9 });
    const older = begin({ cancel });
    const newer = begin({ cancel, places: 2 });
    await settle();
    expect(service.registeredCount).toBe(2);
    expect(service.cancel("r")).toBe(true);
    const { keys = [], stopped } = newer.state.live ?? {};
    expect(calls).toEqual(keys.map((key) => [key, "id"]));
    // No client can send such an id.
    expect(keys).toEqual([expect.stringMatching(/^r \d+$/), expect.stringMatching(/^r \d+$/)]);
    expect([stopped?.aborted, stopped?.reason]).toEqual([true, "id"]);
    expect(older.state.live?.stopped.aborted).toBe(false);
    expect([await newer.end(), await older.end()]).toEqual(["ended", "ended"]);
    expect(service.cancel("r")).toBe(false);
  });

  test("one request leaves others with the same id running, and is possible until the request is settled", async () => {
    const { calls, cancel } = cancels();
    const { begin, service } = setUp({ maxQueue: 9 });
    const [older, newer] = [begin({ cancel }), begin({ cancel })];
    await settle();
    older.report.cancel?.();
    expect(calls).toEqual([["r", "id"]]);
    expect(service.registeredCount).toBe(1);
    newer.state.live?.settled();
    expect(newer.report.cancel).toBeUndefined();
    expect(service.cancel("r")).toBe(false);
    expect(service.registeredCount).toBe(0);
    await Promise.all([older.end(), newer.end()]);
    expect(older.report.cancel).toBeUndefined();
  });

  test("fails a request without a partial answer: as cancelled, or as shutting down when the server stops", async () => {
    const { begin, service, counted } = setUp();
    const cancelled = begin({ id: "a" });
    await cancelled.step("accepted");
    service.cancel("a");
    expect(await cancelled.ended).toBe("request_cancelled");
    expect(cancelled.report).toEqual({ model: "main", reason: "cancelled" });
    const stopped = begin();
    await stopped.step("accepted");
    service.cancelAll();
    expect(await stopped.ended).toBe("shutting_down");
    expect(stopped.report).toEqual({ model: "main", error: "shutting_down" });
    expect(counted).toEqual([
      "main: started",
      "main: cancelled, 0 tokens, 0 ms",
      "main: started",
      "main: shutting_down, 0 ms",
    ]);
  });

  test("by disconnecting throws the client's abort reason and counts as cancelled", async () => {
    const { begin, counted, time } = setUp();
    const left = begin();
    await left.step("accepted", "started", "text");
    time.ms += 30;
    left.client.abort("left");
    expect(await left.ended).toBe("left");
    const gone = new AbortController();
    gone.abort("gone");
    const never = begin({}, gone);
    expect(await never.ended).toBe("gone");
    expect(never.state.live).toBeUndefined();
    expect(counted).toEqual([
      "main: started",
      "main: cancelled, 0 tokens, 30 ms",
      "main: started",
      "main: cancelled, 0 tokens, 0 ms",
    ]);
  });

  test("by no longer reading is reported, listed and counted as cancelled", async () => {
    const { service, counted, main } = setUp();
    const report: RequestReport = {};
    const events = service.run<Event>({ id: "r", backend: main }, new AbortController().signal, report, {
      begin: async () =>
        (async function* () {
          yield { type: "text" } as const;
        })(),
      observe: () => {},
    });
    await events.next();
    await events.return();
    expect(report.reason).toBe("cancelled");
    expect(service.history.list()).toMatchObject([{ state: "ended", reason: "cancelled" }]);
    expect(counted).toEqual(["main: started", "main: cancelled, 0 tokens, 0 ms"]);
  });
});

describe("the end of a request", () => {
  test("is counted for the model that computed it, with its tokens and its time since admission", async () => {
    const { begin, counted, time, main } = setUp();
    const backend = { ...main, subject: { kind: "text", model: "poet" } };
    const request = begin({ backend });
    await request.step("accepted", "started", "text");
    time.ms += 40;
    request.report.usage = noUsage(11);
    await request.end();
    expect(counted).toEqual(["poet: started", "poet: stop, 11 tokens, 40 0 40 ms"]);
  });

  test("counts the prompt of a cancelled request only when it was computed to its end", async () => {
    const { begin, counted } = setUp();
    for (const completionTokens of [0, 1]) {
      const request = begin();
      await request.step("accepted");
      Object.assign(request.report, { reason: "cancelled", usage: { ...noUsage(11), completionTokens } });
      await request.end(false);
    }
    expect(counted.filter((line) => !line.includes("started"))).toEqual([
      "main: cancelled, 0 tokens, 0 ms",
      "main: cancelled, 11 tokens, 0 ms",
    ]);
  });

  test("counts waiting and computing times when the backend reports the start of computation", async () => {
    const { begin, counted, time } = setUp({ maxQueue: 9 });
    for (const begun of [{ type: "started" }, { type: "started", isAssumed: true }] as const) {
      const request = begin();
      await request.step("accepted");
      time.ms += 20;
      await request.step(begun);
      time.ms += 300;
      request.report.usage = noUsage(11);
      await request.end();
    }
    const unread = begin();
    await unread.step("accepted", "started");
    unread.client.abort("left");
    expect(await unread.ended).toBe("left");
    expect(counted.filter((line) => !line.includes("started"))).toEqual([
      "main: stop, 11 tokens, 320 20 300 ms",
      "main: stop, 11 tokens, 320 ms",
      "main: cancelled, 0 tokens, 0 ms",
    ]);
  });

  test("without a finish event is an internal error, unless the client disconnected", async () => {
    const { begin, counted } = setUp();
    const [one, two] = [begin(), begin()];
    expect(await one.end(false)).toBe("internal_error");
    expect([one.report.error, counted.at(-1)]).toEqual(["internal_error", "main: internal_error, 0 ms"]);
    const ended = two.end(false);
    two.client.abort("left");
    expect(await ended).toBe("left");
  });
});

describe("draining", () => {
  test("refuses new requests, also in the background, and ends with the last request", async () => {
    const { begin, service, main } = setUp();
    const [first, last] = [begin({ places: 2 }), begin({ background: true })];
    await settle();
    let drained = 0;
    for (let waiting = 0; waiting < 2; waiting++) void service.drain().then(() => drained++);
    for (const spec of [{}, { background: true }] as const) expect(await begin(spec).ended).toBe("shutting_down");
    expect(() => service.checkCapacity([main], {})).toThrow(expect.objectContaining({ code: "shutting_down" }));
    await first.end();
    expect(drained).toBe(0);
    await last.end();
    await settle();
    expect(drained).toBe(2);
  });

  test("of an idle service is immediate", async () => {
    await setUp().service.drain();
  });

  test("lets parts of admitted requests run until everything is cancelled", async () => {
    const { begin, service } = setUp({ maxQueue: 9 });
    const parts = [{ assured: true }, { partOf: "placed" }] as const;
    void service.drain();
    for (const part of parts) expect(await begin(part).end()).toBe("ended");
    service.cancelAll();
    for (const part of parts) expect(await begin(part).ended).toBe("shutting_down");
    expect(service.activeCount).toBe(0);
  });
});
