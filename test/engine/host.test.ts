import { afterEach, describe, expect, test } from "bun:test";
import { fileURLToPath } from "node:url";
import { systemClock } from "../../src/domain/clock.ts";
import { SvcError } from "../../src/domain/errors.ts";
import type { EngineEvent, GenerateRequest } from "../../src/domain/generate.ts";
import { EngineHost } from "../../src/engine/text/host.ts";
import { plainRequest } from "../support/request.ts";

const fixture = fileURLToPath(new URL("fixtures/engine-process.ts", import.meta.url));
const silent = { debug() {}, info() {}, warn() {}, error() {} };
const hosts: EngineHost[] = [];

function startHost(modelPath = "model", loadTimeoutMs = 5000): EngineHost {
  const host = new EngineHost({
    engine: {
      libraries: process.cwd(),
      modelPath,
      context: 128,
      maxModelLen: 128,
      parallel: 2,
      kvMode: "unified",
      prefixCache: true,
      speculation: true,
      maxQueueTokens: 1000,
      kvTokenBytes: 100,
      cacheRamBytes: 1e6,
      kvType: "f16",
      batch: 64,
      microBatch: 64,
      threads: 1,
      gpuLayers: 0,
      flashAttention: "auto",
      mmap: true,
      mlock: false,
      warmup: false,
      stallBudgetMs: 50,
      sampling: {},
      chatTemplate: "",
      adapterPaths: [],
      constrain: true,
    },
    adapters: [],
    model: { id: "fake", path: "/fake.gguf", created: 0 },
    command: [process.execPath, fixture],
    env: { PATH: "/usr/bin:/bin" },
    loadTimeoutMs,
    log: silent,
    clock: systemClock,
  });
  host.start();
  hosts.push(host);
  return host;
}

afterEach(async () => {
  await Promise.all(hosts.splice(0).map((host) => host.stop()));
});

const request = (content: string, id = "r1"): GenerateRequest => plainRequest(content, { id });

async function collect(events: AsyncIterable<EngineEvent>): Promise<EngineEvent[]> {
  const all: EngineEvent[] = [];
  for await (const event of events) all.push(event);
  return all;
}

const types = (events: EngineEvent[]) => events.map((event) => event.type);
const live = () => new AbortController().signal;

async function codeOf(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof SvcError) return error.code;
    throw error;
  }
  throw new Error("it did not fail");
}

describe("a healthy engine", () => {
  test("answers accepted, started, text, finish, in this order", async () => {
    const events = await collect(startHost().generate(request("hi"), live()));
    expect(types(events)).toEqual(["accepted", "started", "text", "finish"]);
    expect(events[2]).toEqual({ type: "text", text: "héllo" });
  });

  test("reports its model and state once it is ready", async () => {
    const host = startHost();
    expect(host.status().state).toBe("loading");
    const model = await host.ready();
    expect(model).toMatchObject({ id: "fake", context: 128, parallel: 2 });
    expect(host.status()).toMatchObject({ state: "ready", restarts: 0 });
  });

  test("requests wait for an engine that is loading, and progress shows meanwhile", async () => {
    const host = startHost("slow");
    const answer = collect(host.generate(request("hi"), live()));
    await Bun.sleep(200);
    expect(host.status()).toMatchObject({ state: "loading", progress: 0.5 });
    expect(types(await answer)).toEqual(["accepted", "started", "text", "finish"]);
  });

  test("a request waits no longer than the load timeout", async () => {
    expect(await codeOf(collect(startHost("slow", 50).generate(request("hi"), live())))).toBe("engine_unavailable");
  });

  test("passes a refusal on with its code", async () => {
    expect(await codeOf(collect(startHost().generate(request("refuse"), live())))).toBe("context_length_exceeded");
  });

  test("tokenizes", async () => {
    expect(await startHost().tokenize("abc", live())).toEqual(Int32Array.from([1, 2, 3]));
  });
});

describe("cancel and disconnect", () => {
  test("a cancelled stream finishes with its reason", async () => {
    const host = startHost();
    const events: EngineEvent[] = [];
    for await (const event of host.generate(request("hang"), live())) {
      events.push(event);
      if (event.type === "text") host.cancel("r1");
    }
    expect(events.at(-1)).toMatchObject({ type: "finish", reason: "cancelled" });
  });

  test("a request can be cancelled while the engine is loading", async () => {
    const host = startHost("slow");
    const answer = collect(host.generate(request("hi"), live()));
    await Bun.sleep(20);
    host.cancel("r1");
    expect(await answer).toMatchObject([{ type: "accepted" }, { type: "finish", reason: "cancelled" }]);
  });

  test("an aborted request ends its iteration and frees its entry", async () => {
    const host = startHost();
    const controller = new AbortController();
    const answer = collect(host.generate(request("hang"), controller.signal));
    await host.ready();
    await Bun.sleep(50);
    controller.abort();
    await expect(answer).rejects.toThrow();
    expect(types(await collect(host.generate(request("hi"), live())))).toEqual([
      "accepted",
      "started",
      "text",
      "finish",
    ]);
  });
});

describe("a dying engine", () => {
  test("fails the requests it computed, and the next request is served by its successor", async () => {
    const host = startHost();
    expect(await codeOf(collect(host.generate(request("die"), live())))).toBe("engine_crashed");
    expect(host.status().lastError).toContain("SIGKILL");
    expect(types(await collect(host.generate(request("hi"), live())))).toEqual([
      "accepted",
      "started",
      "text",
      "finish",
    ]);
    expect(host.status()).toMatchObject({ state: "ready", restarts: 1 });
  });

  test("hands a queued request to its successor without a second acceptance", async () => {
    const host = startHost();
    const queued = collect(host.generate(request("stay queued", "q"), live()));
    expect(await codeOf(collect(host.generate(request("die"), live())))).toBe("engine_crashed");
    await Bun.sleep(300);
    host.cancel("q");
    expect(types(await queued)).toEqual(["accepted", "finish"]);
  });

  test("gives up on a request that keeps killing engines before it is accepted", async () => {
    const host = startHost();
    expect(await codeOf(collect(host.generate(request("die before accepting"), live())))).toBe("engine_crashed");
    expect(host.status().restarts).toBeGreaterThan(0);
  }, 15_000);

  const constraint = { grammar: 'root ::= "x"', strict: false, inexpressible: false };

  test("gives up at once on the request whose grammar held it up, and on no other that waits", async () => {
    const host = startHost();
    const heldUp = { ...request("be held up before accepting"), constraint };
    const first = codeOf(collect(host.generate(heldUp, live())));
    const waiting = collect(host.generate({ ...request("wait", "w"), constraint }, live()));
    expect(await first).toBe("engine_crashed");
    expect(types(await collect(host.generate(request("hi"), live())))).toContain("finish");
    expect(host.status().restarts).toBe(1);
    host.cancel("w");
    expect(types(await waiting)).toEqual(["accepted", "finish"]);
  });

  test("gives up on nothing that waits where an answer held it up", async () => {
    const host = startHost();
    const waiting = collect(host.generate({ ...request("wait", "w"), constraint }, live()));
    const heldUp = { ...request("be held up"), constraint };
    expect(await codeOf(collect(host.generate(heldUp, live())))).toBe("engine_crashed");
    expect(types(await collect(host.generate(request("hi"), live())))).toContain("finish");
    host.cancel("w");
    expect(types(await waiting)).toEqual(["accepted", "finish"]);
  });

  test("a model that cannot be loaded is reported and not tried again", async () => {
    const host = startHost("unloadable");
    await expect(host.ready()).rejects.toThrow("no such architecture");
    await host.ready().catch(() => {});
    expect(host.status()).toMatchObject({ state: "failed", restarts: 0 });
    expect(await codeOf(collect(host.generate(request("hi"), live())))).toBe("engine_unavailable");
  });

  test("after stop nothing is accepted and no process is left", async () => {
    const host = startHost();
    const hanging = codeOf(collect(host.generate(request("hang"), live())));
    await host.ready();
    await host.stop();
    expect(await hanging).toBe("shutting_down");
    expect(await codeOf(collect(host.generate(request("hi"), live())))).toBe("shutting_down");
    expect(host.status().state).toBe("stopped");
  });
});
