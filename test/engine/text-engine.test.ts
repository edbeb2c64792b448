import { afterEach, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { EngineEvent, GenerateRequest } from "../../src/domain/generate.ts";
import { TextEngine } from "../../src/engine/text/text-engine.ts";
import { temporaryFolder } from "../support/folders.ts";
import { testLaunch } from "../support/launch.ts";
import { plainRequest } from "../support/request.ts";
import { rejectionCode } from "../support/thrown.ts";
import { until } from "../support/until.ts";
import { SMALL_ENGINE } from "./fixtures/small-engine.ts";

const fixture = fileURLToPath(new URL("fixtures/engine-process.ts", import.meta.url));
/** Messages of the engine processes. */
const said: string[] = [];
const log = { debug() {}, verbose() {}, info() {}, warn: (message: string) => void said.push(message), error() {} };
const engines: TextEngine[] = [];

function startEngine(modelPath = "model"): TextEngine {
  const engine = new TextEngine({
    load: () => ({ ...SMALL_ENGINE, modelPath, context: 128, maxModelLen: 128, parallel: 2 }),
    adapters: [],
    model: { id: "fake", created: 0, parallel: 2 },
    launch: testLaunch({ command: () => [process.execPath, fixture], loadTimeoutMs: 5000, log }),
    start: "eager",
    idleMs: 0,
    stores: false,
  });
  engine.start();
  engines.push(engine);
  return engine;
}

afterEach(async () => {
  await Promise.all(engines.splice(0).map((engine) => engine.stop()));
});

const request = (content: string, id = "r1"): GenerateRequest => plainRequest(content, { id });

const types = (events: EngineEvent[]) => events.map((event) => event.type);
const live = () => new AbortController().signal;

describe("a healthy engine", () => {
  test("answers with accepted, started, text and finish, in this order", async () => {
    const events = await Array.fromAsync(startEngine().generate(request("hi"), live()));
    expect(types(events)).toEqual(["accepted", "started", "text", "finish"]);
    expect(events[2]).toEqual({ type: "text", text: "héllo" });
  });

  test("does not send a prompt that cannot fit to the process", async () => {
    const engine = startEngine("short");
    await engine.ready();
    expect(() => engine.generate(request("x".repeat(41)), live())).toThrow("which are at most 40 bytes of text");
    expect(types(await Array.fromAsync(engine.generate(request("x".repeat(40)), live())))).toContain("finish");
  });

  test("does not send more text than may be tokenized for one request, even when it fits the context", async () => {
    const engine = startEngine();
    const long = "x".repeat(8 * 1024 * 1024 + 1);
    const asked = { ...request(""), tools: [{ name: "f", description: long, parameters: {}, enforced: {} }] };
    for (const refused of [engine.tokenize(long, live()), engine.countTokens(asked, live())]) {
      expect(await rejectionCode(refused)).toBe("payload_too_large");
    }
    expect(await engine.tokenize(long.slice(1), live())).toHaveLength(3);
  });

  test("does not send a prompt that cannot fit when it is only to be rendered", async () => {
    const engine = startEngine("short");
    await engine.ready();
    expect(await rejectionCode(engine.render(request("x".repeat(41)), live()))).toBe("context_length_exceeded");
  });

  test("reports its model and state once it is ready", async () => {
    const engine = startEngine();
    expect(engine.status().state).toBe("loading");
    expect(engine.status()).not.toHaveProperty("model");
    const model = await engine.ready();
    expect(model).toMatchObject({ id: "fake", context: 128, parallel: 2 });
    expect(engine.status()).toMatchObject({ state: "ready", restarts: 0, model: { id: "fake", context: 128 } });
  });

  test("keeps requests waiting while it is loading, and reports progress meanwhile", async () => {
    const engine = startEngine("slow");
    const answer = Array.fromAsync(engine.generate(request("hi"), live()));
    await until(() => engine.status().progress === 0.5);
    expect(engine.status().state).toBe("loading");
    expect(types(await answer)).toEqual(["accepted", "started", "text", "finish"]);
  });

  test("passes a refusal on with its code and field, and reports when a place is expected to be free", async () => {
    const engine = startEngine();
    const refusal = (content: string) => Array.fromAsync(engine.generate(request(content), live()));
    await expect(refusal("refuse")).rejects.toMatchObject({
      code: "context_length_exceeded",
      details: { param: "messages" },
    });
    await expect(refusal("be too much")).rejects.toMatchObject({
      code: "server_busy",
      details: { busy: "queue_tokens", retryAfterSeconds: 60 },
    });
    expect(engine.placeFreeMs()).toBeGreaterThan(50_000);
  });

  test("tokenizes and detokenizes", async () => {
    const engine = startEngine();
    expect(await engine.tokenize("abc", live())).toEqual(Int32Array.from([1, 2, 3]));
    expect(await engine.detokenize([1, 2, 3], live())).toBe("abc");
  });
});

describe("cancel and disconnect", () => {
  test("a cancelled stream finishes with its reason", async () => {
    const engine = startEngine();
    const events: EngineEvent[] = [];
    for await (const event of engine.generate(request("hang"), live())) {
      events.push(event);
      if (event.type === "text") engine.cancel("r1", "id");
    }
    expect(events.at(-1)).toMatchObject({ type: "finish", reason: "cancelled" });
  });

  test("a cancel takes effect while the engine is loading", async () => {
    const engine = startEngine("slow");
    const answer = Array.fromAsync(engine.generate(request("hi"), live()));
    await Bun.sleep(20);
    engine.cancel("r1", "id");
    expect(await answer).toMatchObject([
      { type: "accepted", promptTokens: 0, downgraded: false },
      { type: "finish", reason: "cancelled", usage: { promptTokens: 0 } },
    ]);
  });

  test("a cancel interrupts a request that is computed, and nothing for one that only waits", async () => {
    const engine = startEngine();
    said.length = 0;
    for (const [content, last] of [
      ["stay queued", "accepted"],
      ["hang", "text"],
    ] as const) {
      const leave = new AbortController();
      const reading = async () => {
        for await (const { type } of engine.generate(request(content), leave.signal)) {
          if (type === last) leave.abort("left");
        }
      };
      await expect(reading()).rejects.toBe("left");
    }
    await until(() => said.length > 0);
    expect(said).toEqual(["interrupted 2"]);
  });
});

describe("a dying engine", () => {
  test("fails the requests that it computed, and the next process serves the next request", async () => {
    const engine = startEngine();
    expect(await rejectionCode(Array.fromAsync(engine.generate(request("die"), live())))).toBe("engine_crashed");
    expect(engine.status().lastError).toContain("SIGKILL");
    expect(types(await Array.fromAsync(engine.generate(request("hi"), live())))).toEqual([
      "accepted",
      "started",
      "text",
      "finish",
    ]);
    expect(engine.status()).toMatchObject({ state: "ready", restarts: 1 });
  });

  test("hands a queued request to the next process without a second acceptance", async () => {
    const engine = startEngine();
    const queued = Array.fromAsync(engine.generate(request("stay queued", "q"), live()));
    expect(await rejectionCode(Array.fromAsync(engine.generate(request("die"), live())))).toBe("engine_crashed");
    await Bun.sleep(300);
    engine.cancel("q", "id");
    expect(types(await queued)).toEqual(["accepted", "finish"]);
  });

  test("leaves a queued request cancellable before the next process has accepted it", async () => {
    const engine = startEngine(join(temporaryFolder(), "life"));
    const queued = Array.fromAsync(engine.generate(request("stay queued", "q"), live()));
    expect(await rejectionCode(Array.fromAsync(engine.generate(request("die"), live())))).toBe("engine_crashed");
    await until(() => engine.status().state === "ready");
    engine.cancel("q", "id");
    expect(await queued).toMatchObject([{ type: "accepted" }, { type: "finish", reason: "cancelled" }]);
  });

  test("does not hand a cancelled request to the next process", async () => {
    const engine = startEngine();
    const queued = Array.fromAsync(engine.generate(request("stay queued, deaf", "q"), live()));
    await engine.ready();
    await Bun.sleep(50);
    engine.cancel("q", "id");
    expect(await rejectionCode(Array.fromAsync(engine.generate(request("die"), live())))).toBe("engine_crashed");
    expect(await queued).toMatchObject([{ type: "accepted" }, { type: "finish", reason: "cancelled" }]);
  });

  test("gives up on a request that kills several engines before it is accepted", async () => {
    const engine = startEngine();
    expect(await rejectionCode(Array.fromAsync(engine.generate(request("die before accepting"), live())))).toBe(
      "engine_crashed",
    );
    // The third process that it kills is the last that gets it.
    expect(engine.status().restarts).toBe(2);
  }, 30_000);

  const constraint = { grammar: 'root ::= "x"', strict: false, inexpressible: false };

  test.each([
    ["the request whose grammar blocked it", "be held up before accepting"],
    ["a running answer that blocked it", "be held up"],
  ])("gives up at once on %s, and on no other waiting request", async (_, content) => {
    const engine = startEngine();
    const waiting = Array.fromAsync(engine.generate({ ...request("wait", "w"), constraint }, live()));
    const heldUp = { ...request(content), constraint };
    expect(await rejectionCode(Array.fromAsync(engine.generate(heldUp, live())))).toBe("engine_crashed");
    expect(types(await Array.fromAsync(engine.generate(request("hi"), live())))).toContain("finish");
    expect(engine.status().restarts).toBe(1);
    engine.cancel("w", "id");
    expect(types(await waiting)).toEqual(["accepted", "finish"]);
  });
});
