import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { fileURLToPath } from "node:url";
import { EmbeddingEngine } from "../../../src/engine/embedding/embedding-engine.ts";
import { testLaunch } from "../../support/launch.ts";
import { rejectionCode } from "../../support/thrown.ts";

setDefaultTimeout(60_000);

const fixture = fileURLToPath(new URL("fixtures/embedder-process.ts", import.meta.url));
const engines: EmbeddingEngine[] = [];

function create(modelPath = "model", loadTimeoutMs = 30_000, idleMs = 0): EmbeddingEngine {
  const sizes = { maxTokens: 16, threads: 1, gpuLayers: 0 };
  const rest = { flashAttention: "auto", mmap: true, mlock: false, warmup: false } as const;
  const engine = new EmbeddingEngine({
    engine: { libraries: process.cwd(), modelPath, kind: "embed", ...sizes, ...rest },
    model: { id: "fake", created: 7, dimensions: 2 },
    launch: testLaunch({ command: () => [process.execPath, fixture], loadTimeoutMs }),
    idleMs,
  });
  engines.push(engine);
  return engine;
}

afterEach(async () => {
  await Promise.all(engines.splice(0).map((engine) => engine.stop()));
});

async function ask(engine: EmbeddingEngine, text: string, signal = new AbortController().signal) {
  for await (const event of engine.run({ kind: "embed", inputs: [text] }, signal)) {
    if (event.type === "result") return event.result;
  }
  throw new Error("no result");
}

/** Returns the error code of a failed call. */
test("starts nothing until the first request, but is listed", async () => {
  const engine = create();
  expect(engine.status()).toMatchObject({
    modelId: "fake",
    created: 7,
    maxTokens: 16,
    state: "unloaded",
    restarts: 0,
  });
  const { values, tokens } = await ask(engine, "hello");
  expect([values[0], tokens]).toEqual([Math.fround(0.6), 3]);
  const known = { model: { architecture: "fake" }, device: "none" };
  expect(engine.status()).toMatchObject({ state: "ready", ...known, restarts: 0 });
});

test("a crash fails the requests being computed, keeps the others, and the next request gets a new process", async () => {
  const engine = create();
  await ask(engine, "hello");
  const [died, kept] = [rejectionCode(ask(engine, "die")), ask(engine, "hello")];
  expect(await died).toBe("engine_crashed");
  expect((await kept).tokens).toBe(3);
  expect((await ask(engine, "hello")).tokens).toBe(3);
  expect(engine.status()).toMatchObject({ state: "ready", restarts: 1 });
  expect(engine.status().lastError).toContain("SIGKILL");
});

test("a model that cannot be loaded is 503 for waiting requests, and the operator gets the reason", async () => {
  const engine = create("unloadable");
  expect(await Promise.all([rejectionCode(ask(engine, "a")), rejectionCode(ask(engine, "b"))])).toEqual([
    "engine_unavailable",
    "engine_unavailable",
  ]);
  expect(engine.status().lastError).toBe("no such architecture");
});

test("a request waits for loading no longer than the load timeout", async () => {
  const engine = create("endless", 50);
  expect(await rejectionCode(ask(engine, "a"))).toBe("engine_unavailable");
});

test("an abort ends the wait with the signal's reason, and a refusal by the engine is passed on", async () => {
  const engine = create();
  const leave = new AbortController();
  const hanging = rejectionCode(ask(engine, "hang", leave.signal));
  await ask(engine, "hello");
  leave.abort("gone");
  expect(await hanging).toBe("gone");
  expect(await rejectionCode(ask(engine, "hang", AbortSignal.abort("early")))).toBe("early");
  expect(await rejectionCode(ask(engine, "refuse"))).toBe("invalid_value");
});

test("stopping ends the process and all waiting requests", async () => {
  const engine = create();
  await ask(engine, "hello");
  const waiting = rejectionCode(ask(engine, "hang untouched"));
  await engine.stop();
  expect(await waiting).toBe("shutting_down");
  expect(await rejectionCode(ask(engine, "hello"))).toBe("shutting_down");
});
