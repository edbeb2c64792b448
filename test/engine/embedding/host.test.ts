import { afterEach, expect, test } from "bun:test";
import { fileURLToPath } from "node:url";
import { systemClock } from "../../../src/domain/clock.ts";
import { SvcError } from "../../../src/domain/errors.ts";
import { EmbeddingHost } from "../../../src/engine/embedding/host.ts";

const fixture = fileURLToPath(new URL("fixtures/embedder-process.ts", import.meta.url));
const silent = { debug() {}, info() {}, warn() {}, error() {} };
const hosts: EmbeddingHost[] = [];
const PATIENCE_MS = 60_000;

function createHost(modelPath = "model", loadTimeoutMs = 30_000): EmbeddingHost {
  const sizes = { maxTokens: 16, threads: 1, gpuLayers: 0 };
  const rest = { flashAttention: "auto", mmap: true, mlock: false, warmup: false } as const;
  const host = new EmbeddingHost({
    engine: { libraries: process.cwd(), modelPath, kind: "embed", ...sizes, ...rest },
    model: { id: "fake", created: 7, dimensions: 2 },
    command: [process.execPath, fixture],
    env: { PATH: "/usr/bin:/bin" },
    loadTimeoutMs,
    log: silent,
    clock: systemClock,
  });
  hosts.push(host);
  return host;
}

afterEach(async () => {
  await Promise.all(hosts.splice(0).map((host) => host.stop()));
});

const ask = (host: EmbeddingHost, text: string, signal = new AbortController().signal) =>
  host.run({ kind: "embed", inputs: [text] }, signal);

/** The code of the failure. */
async function failure(call: Promise<unknown>): Promise<string> {
  try {
    await call;
  } catch (error) {
    return error instanceof SvcError ? error.code : String(error);
  }
  return "none";
}

test(
  "starts nothing until it is asked, and is advertised all the same",
  async () => {
    const host = createHost();
    expect(host.status()).toMatchObject({ modelId: "fake", created: 7, maxTokens: 16, state: "unloaded", restarts: 0 });
    const { values, tokens } = await ask(host, "hello");
    expect([values[0], tokens]).toEqual([Math.fround(0.6), 3]);
    expect(host.status()).toMatchObject({ state: "ready", model: { architecture: "fake" }, restarts: 0 });
  },
  PATIENCE_MS,
);

test(
  "a crash fails what was computed, keeps what was not, and the next request finds another process",
  async () => {
    const host = createHost();
    await ask(host, "hello");
    const [died, kept] = [failure(ask(host, "die")), ask(host, "hello")];
    expect(await died).toBe("engine_crashed");
    expect((await kept).tokens).toBe(3);
    expect((await ask(host, "hello")).tokens).toBe(3);
    expect(host.status()).toMatchObject({ state: "ready", restarts: 1 });
    expect(host.status().lastError).toContain("SIGKILL");
  },
  PATIENCE_MS,
);

test(
  "a model that cannot be loaded is 503 for who waits, and the reason is kept for the operator",
  async () => {
    const host = createHost("unloadable");
    expect(await Promise.all([failure(ask(host, "a")), failure(ask(host, "b"))])).toEqual([
      "engine_unavailable",
      "engine_unavailable",
    ]);
    expect(host.status().lastError).toBe("no such architecture");
  },
  PATIENCE_MS,
);

test(
  "a request waits for loading no longer than it may",
  async () => {
    const host = createHost("endless", 50);
    expect(await failure(ask(host, "a"))).toBe("engine_unavailable");
  },
  PATIENCE_MS,
);

test(
  "an abort ends the wait with the signal's reason, what the engine refuses is told",
  async () => {
    const host = createHost();
    const leave = new AbortController();
    const hanging = failure(ask(host, "hang", leave.signal));
    await ask(host, "hello");
    leave.abort("gone");
    expect(await hanging).toBe("gone");
    expect(await failure(ask(host, "hang", AbortSignal.abort("early")))).toBe("early");
    expect(await failure(ask(host, "refuse"))).toBe("invalid_value");
  },
  PATIENCE_MS,
);

test(
  "stopping ends the process and who waits",
  async () => {
    const host = createHost();
    await ask(host, "hello");
    const waiting = failure(ask(host, "hang untouched"));
    await host.stop();
    expect(await waiting).toBe("shutting_down");
    expect(await failure(ask(host, "hello"))).toBe("shutting_down");
  },
  PATIENCE_MS,
);
