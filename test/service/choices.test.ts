// Several answers to one request, with an engine in memory.

import { describe, expect, test } from "bun:test";
import type { EngineEvent, GenerateRequest } from "../../src/domain/generate.ts";
import { Semaphore } from "../../src/domain/semaphore.ts";
import { generateAll, splitChoices } from "../../src/service/choices.ts";
import { FakeEngine, type FakeScript } from "../support/fake-text-engine.ts";
import { plainRequest } from "../support/request.ts";

const never = new Promise<void>(() => {});
const hanging: FakeScript = { steps: [{ wait: never }] };
const talking: FakeScript = { steps: [{ text: "now" }, { wait: never }] };

/** An image of 30 bytes. */
const image = { kind: "image", id: "i", width: 2, height: 5, rgb: new Uint8Array(30) } as const;

/** Returns engine requests for two answers to each of these prompts. */
const twoOf = (...prompts: string[]) =>
  splitChoices(
    prompts.map((content) => plainRequest(content, { choices: 2 })),
    prompts.flatMap((content) => [`${content} 1`, `${content} 2`]),
  );

/** Starts the requests on an engine that answers each id with its script; returns the engine and the events. */
function start(
  requests: readonly GenerateRequest[],
  scripts: Record<string, FakeScript>,
  {
    signal = new AbortController().signal,
    stopped = new AbortController().signal,
    parallel = 4,
    memory = new Semaphore(100),
  } = {},
) {
  const engine = new FakeEngine(({ id }) => scripts[id] ?? { steps: [] });
  return {
    engine,
    events: generateAll(engine, requests, { signal, stopped, parallel, copies: memory }),
  };
}

describe("a request for several answers", () => {
  test("becomes one engine request for each answer, each with its own id and seed", () => {
    const three = plainRequest("a", { choices: 3, sampling: { seed: 2 ** 32 - 2, topK: 4 } });
    const parts = splitChoices([three, plainRequest("b", { choices: 2 })], ["k", "k 1", "k 2", "k 3", "k 4"]);
    expect(parts.map(({ id, group, choices }) => [id, group, choices])).toEqual([
      ["k", "k", 1],
      ["k 1", "k", 1],
      ["k 2", "k", 1],
      ["k 3", "k 3", 1],
      ["k 4", "k 3", 1],
    ]);
    expect(parts.map(({ sampling }) => sampling)).toEqual([
      { seed: 2 ** 32 - 2, topK: 4 },
      { seed: 2 ** 32 - 1, topK: 4 },
      { seed: 0, topK: 4 },
      {},
      {},
    ]);
  });

  test("stays the same except for its id when it asks for one answer", () => {
    const request = plainRequest("a", { sampling: { seed: 5 } });
    expect(splitChoices([request], ["k"])).toEqual([{ ...request, id: "k" }]);
  });
});

describe("several answers", () => {
  test("are accepted once, count each prompt once, and name the answer in each event", async () => {
    const last = Promise.withResolvers<void>();
    const requests = splitChoices([plainRequest("a", { choices: 3 }), plainRequest("b")], ["a 1", "a 2", "a 3", "b"]);
    const { events } = start(requests, {
      "a 1": { steps: [{ text: "one" }], usage: { promptTokens: 5 } },
      "a 2": { steps: [{ text: "two" }], usage: { promptTokens: 5 } },
      "a 3": { steps: [{ text: "three" }], usage: { promptTokens: 5 } },
      b: { steps: [{ wait: last.promise }, "accept", { text: "four" }], usage: { promptTokens: 20 } },
    });
    const seen: EngineEvent[] = [];
    const over = (async () => {
      for await (const event of events) seen.push(event);
    })();
    await Bun.sleep(5);
    expect(seen).toEqual([]);
    last.resolve();
    await over;
    expect(seen.map(({ type }) => type).filter((type) => type === "accepted")).toHaveLength(1);
    expect(seen[0]).toEqual({ type: "accepted", promptTokens: 25, downgraded: false });
    const of = (wanted: number) =>
      seen.flatMap((event) => ("choice" in event && event.choice === wanted ? [event] : []));
    for (const [choice, text] of ["one", "two", "three", "four"].entries()) {
      expect(of(choice)).toMatchObject([{ type: "started" }, { type: "text", text }, { type: "finish" }]);
    }
  });

  test("begin to arrive as soon as all prompts are accepted, and are aborted when the reader stops", async () => {
    const { events, engine } = start(twoOf("a"), { "a 1": talking, "a 2": hanging });
    for await (const event of events) if (event.type === "text") break;
    expect([engine.aborted.length, engine.live]).toEqual([2, 0]);
  });

  test("go to the engine after their prompt is accepted, only a few more of them than it computes at once", async () => {
    const ids = Array.from({ length: 20 }, (_, answer) => `a ${answer}`);
    const requests = splitChoices([plainRequest("a", { choices: 20 })], ids);
    const [accept, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const scripts: Record<string, FakeScript> = Object.fromEntries(ids.map((id) => [id, hanging]));
    scripts["a 0"] = { steps: [{ wait: accept.promise }, "accept", { wait: never }] };
    scripts["a 1"] = { steps: [{ wait: end.promise }] };
    const leave = new AbortController();
    const { events, engine } = start(requests, scripts, { signal: leave.signal, parallel: 2 });
    const over = Array.fromAsync(events).catch((reason: unknown) => reason);
    const begun: number[] = [];
    for (const goOn of [accept.resolve, end.resolve, () => leave.abort("left")]) {
      await Bun.sleep(5);
      begun.push(engine.requests.length);
      goOn();
    }
    expect(begun).toEqual([1, 6, 7]);
    expect([await over, engine.live]).toEqual(["left", 0]);
  });

  test("whose images are sent to the engine again begin as memory for the images becomes free", async () => {
    const ids = ["a 0", "a 1", "a 2", "a 3", "a 4"];
    const requests = splitChoices([plainRequest("a", { choices: 5, media: [image] })], ids);
    const end = Promise.withResolvers<void>();
    const scripts = Object.fromEntries(ids.map((id) => [id, { steps: [{ wait: end.promise }] }]));
    const { events, engine } = start(requests, scripts, { memory: new Semaphore(70) });
    const all = Array.fromAsync(events);
    await Bun.sleep(5);
    expect(engine.requests.map(({ id }) => id)).toEqual(["a 0", "a 1", "a 2"]);
    end.resolve();
    expect((await all).filter(({ type }) => type === "finish")).toHaveLength(5);
  });

  test("free the memory of their images once they are computed, whether or not they have been read", async () => {
    const requests = splitChoices([plainRequest("a", { choices: 4, media: [image] })], ["a 0", "a 1", "a 2", "a 3"]);
    const scripts = Object.fromEntries(requests.map(({ id }) => [id, talking]));
    const { events, engine } = start(requests, scripts, { memory: new Semaphore(30) });
    for (let read = 0; read < 2; read++) await events[Symbol.asyncIterator]().next();
    await Bun.sleep(5);
    expect(engine.requests).toHaveLength(4);
  });

  test("that wait for memory end when the client disconnects", async () => {
    const requests = splitChoices([plainRequest("a", { choices: 3, media: [image] })], ["a 0", "a 1", "a 2"]);
    const leave = new AbortController();
    const scripts = { "a 0": hanging, "a 1": hanging };
    const { events, engine } = start(requests, scripts, { signal: leave.signal, memory: new Semaphore(30) });
    const over = Array.fromAsync(events).catch((reason: unknown) => reason);
    await Bun.sleep(5);
    leave.abort("left");
    expect([await over, engine.live, engine.requests.length]).toEqual(["left", 0, 2]);
  });

  test("that wait for memory end at once when the request is cancelled", async () => {
    const requests = splitChoices([plainRequest("a", { choices: 3, media: [image] })], ["a 0", "a 1", "a 2"]);
    const cancel = new AbortController();
    const memory = new Semaphore(30);
    void memory.run(30, new AbortController().signal, () => never);
    const { events, engine } = start(requests, { "a 0": { steps: [] } }, { stopped: cancel.signal, memory });
    const all = Array.fromAsync(events);
    await Bun.sleep(5);
    cancel.abort("id");
    const finishes = (await all).flatMap((event) => (event.type === "finish" ? [[event.choice, event.reason]] : []));
    expect(finishes).toEqual([
      [0, "stop"],
      [1, "cancelled"],
      [2, "cancelled"],
    ]);
    expect(engine.requests).toHaveLength(1);
  });

  test("that have not begun are never computed once the request is cancelled", async () => {
    const requests = splitChoices(
      [plainRequest("a", { choices: 20 })],
      Array.from({ length: 20 }, (_, n) => `a ${n}`),
    );
    const cancel = new AbortController();
    const end = Promise.withResolvers<void>();
    const first: FakeScript = { steps: [{ wait: end.promise }] };
    const scripts = Object.fromEntries(requests.map(({ id }) => [id, first]));
    const { events, engine } = start(requests, scripts, { stopped: cancel.signal, parallel: 2 });
    const all = Array.fromAsync(events);
    await Bun.sleep(5);
    cancel.abort("id");
    end.resolve();
    const finishes = (await all).flatMap((event) => (event.type === "finish" ? [[event.choice, event.reason]] : []));
    expect(finishes).toHaveLength(20);
    expect(finishes.filter(([, reason]) => reason === "cancelled")).toHaveLength(14);
    expect(engine.requests).toHaveLength(6);
  });

  test("are reported as downgraded when one of them is", async () => {
    const constraint = { strict: false, inexpressible: true };
    for (const changed of [0, 1]) {
      const requests = splitChoices([plainRequest("a"), plainRequest("b")], ["a", "b"]).map((request, at) =>
        at === changed ? { ...request, constraint } : request,
      );
      const [accepted] = await Array.fromAsync(start(requests, {}).events);
      expect(accepted).toMatchObject({ type: "accepted", downgraded: true });
    }
  });

  test("all end with the first failure", async () => {
    const { events, engine } = start(twoOf("a"), {
      "a 1": hanging,
      "a 2": { steps: [{ fail: new Error("gone") }] },
    });
    await expect(Array.fromAsync(events)).rejects.toThrow("gone");
    expect([engine.aborted, engine.live]).toEqual([["a 1"], 0]);
  });

  test("end when the client disconnects, even before they begin", async () => {
    for (const early of [true, false]) {
      const leave = new AbortController();
      if (early) leave.abort("left");
      const { events, engine } = start(twoOf("a"), { "a 1": hanging, "a 2": hanging }, leave);
      const over = Array.fromAsync(events).catch((reason: unknown) => reason);
      await Bun.sleep(5);
      leave.abort("left");
      expect(await over).toBe("left");
      expect([engine.aborted.length, engine.live]).toEqual([early ? 0 : 2, 0]);
    }
  });
});
