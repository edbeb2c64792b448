// Several answers to one request, over an engine in memory.

import { describe, expect, test } from "bun:test";
import type { EngineEvent, GenerateRequest } from "../../src/domain/generate.ts";
import { generateAll, splitChoices } from "../../src/service/choices.ts";
import { FakeEngine, type FakeScript } from "../support/fake-text-engine.ts";
import { plainRequest } from "../support/request.ts";

const never = new Promise<void>(() => {});
const hanging: FakeScript = { steps: [{ wait: never }] };
const talking: FakeScript = { steps: [{ text: "now" }, { wait: never }] };

/** Engine requests for two answers to each of these prompts. */
const twoOf = (...prompts: string[]) =>
  splitChoices(
    prompts.map((content) => plainRequest(content, { choices: 2 })),
    prompts.flatMap((content) => [`${content} 1`, `${content} 2`]),
  );

/** What comes of them, as `scripts` say by their ids, and the engine. */
function start(requests: readonly GenerateRequest[], scripts: Record<string, FakeScript>, signal?: AbortSignal) {
  const engine = new FakeEngine(({ id }) => scripts[id] ?? { steps: [] });
  return { engine, events: generateAll(engine, requests, signal ?? new AbortController().signal) };
}

describe("a request for several answers", () => {
  test("is one for each, with an id and a seed of its own", () => {
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

  test("for one answer it is as it was, but for its id", () => {
    const request = plainRequest("a", { sampling: { seed: 5 } });
    expect(splitChoices([request], ["k"])).toEqual([{ ...request, id: "k" }]);
  });
});

describe("answers side by side", () => {
  test("are accepted once, each prompt counted once, and their events say whose they are", async () => {
    const last = Promise.withResolvers<void>();
    const requests = splitChoices([plainRequest("a", { choices: 3 }), plainRequest("b")], ["a 1", "a 2", "a 3", "b"]);
    const { events } = start(requests, {
      "a 1": { steps: [{ text: "one" }], usage: { promptTokens: 5 } },
      "a 2": { steps: [{ wait: last.promise }, "accept", { text: "two" }], usage: { promptTokens: 5 } },
      "a 3": { steps: [{ text: "three" }], usage: { promptTokens: 5 } },
      b: { steps: [{ text: "four" }], usage: { promptTokens: 20 } },
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

  test("come as soon as all are accepted, and end when their reader stops", async () => {
    const { events, engine } = start(twoOf("a"), { "a 1": talking, "a 2": hanging });
    for await (const event of events) if (event.type === "text") break;
    expect([engine.aborted.length, engine.live]).toEqual([2, 0]);
  });

  test("are downgraded when one of them is", async () => {
    const constraint = { strict: false, inexpressible: true };
    for (const changed of [0, 1]) {
      const requests = twoOf("a").map((request, at) => (at === changed ? { ...request, constraint } : request));
      const [accepted] = await Array.fromAsync(start(requests, {}).events);
      expect(accepted).toMatchObject({ type: "accepted", downgraded: true });
    }
  });

  test("end with the first failure", async () => {
    const { events, engine } = start(twoOf("a"), {
      "a 1": hanging,
      "a 2": { steps: [{ fail: new Error("gone") }] },
    });
    await expect(Array.fromAsync(events)).rejects.toThrow("gone");
    expect([engine.aborted, engine.live]).toEqual([["a 1"], 0]);
  });

  test("end when nobody wants them any more, also before they begin", async () => {
    for (const early of [true, false]) {
      const leave = new AbortController();
      if (early) leave.abort("left");
      const { events, engine } = start(twoOf("a"), { "a 1": hanging, "a 2": hanging }, leave.signal);
      const over = Array.fromAsync(events).catch((reason: unknown) => reason);
      await Bun.sleep(5);
      leave.abort("left");
      expect(await over).toBe("left");
      expect([engine.aborted.length, engine.live]).toEqual([early ? 0 : 2, 0]);
    }
  });
});
