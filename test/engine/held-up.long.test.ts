// A grammar that nothing in llama.cpp can interrupt, with the real engine: after half a minute the engine ends its
// process.

import { expect, test } from "bun:test";
import { developmentLibraries } from "../../ffi/runtime/native-files.ts";
import { SvcError } from "../../src/domain/errors.ts";
import type { GenerateRequest } from "../../src/domain/generate.ts";
import { TextEngine } from "../../src/engine/text/text-engine.ts";
import { MODEL } from "../native/harness.ts";
import { testLaunch } from "../support/launch.ts";
import { plainRequest } from "../support/request.ts";
import { SMALL_ENGINE } from "./fixtures/small-engine.ts";

function startEngine(): TextEngine {
  const engine = new TextEngine({
    load: () => ({
      ...SMALL_ENGINE,
      libraries: developmentLibraries(),
      modelPath: MODEL,
      context: 512,
      maxModelLen: 512,
      parallel: 2,
      speculation: false,
      cacheRamBytes: 0,
    }),
    adapters: [],
    model: { id: "svc-mini", created: 0, parallel: 2 },
    launch: testLaunch(),
    start: "eager",
    idleMs: 0,
    stores: false,
  });
  engine.start();
  return engine;
}

// Each rule begins with the next one in two ways, and llama.cpp examines all combinations.
const rules = Array.from({ length: 60 }, (_, i) => `a${i} ::= a${i + 1} | a${i + 1}`).join("\n");
const constraint = { grammar: `root ::= a0\n${rules}\na60 ::= "x"`, strict: false, inexpressible: false };

test("the grammar fails only its own request, not an earlier request whose turn comes later", async () => {
  const engine = startEngine();
  await engine.ready();
  const leaves = new AbortController();
  const { signal } = leaves;
  const run = (changes: Partial<GenerateRequest>) =>
    Array.fromAsync(engine.generate(plainRequest("hi", { constraint, ...changes }), signal)).then(
      () => "answered",
      (error: unknown) => (error instanceof SvcError ? error.code : "left"),
    );
  // While this is being tokenized, the other client's request overtakes.
  const counted = engine.tokenize("the sea ".repeat(300_000), signal);
  const earlier = run({});
  const first = run({ client: "other" });
  try {
    expect((await counted).length).toBeGreaterThan(300_000);
    expect(await Promise.race([first.then((end) => ["first", end]), earlier.then((end) => ["earlier", end])])).toEqual([
      "first",
      "engine_crashed",
    ]);
    expect(engine.status()).toMatchObject({ restarts: 0, waiting: 1 });
    expect(engine.status().lastError).toContain("with code 71");
    leaves.abort();
    expect(await earlier).toBe("left");
  } finally {
    await engine.stop();
  }
}, 90_000);
