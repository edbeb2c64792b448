// Vectors of the length that a client requests, with an engine that returns given vectors.

import { describe, expect, test } from "bun:test";
import { systemClock } from "../../src/domain/clock.ts";
import type { EmbeddingStatus } from "../../src/engine/embedding/port.ts";
import { offeredEmbeddings, OfferedModels } from "../../src/service/offered-models.ts";
import { EmbeddingService } from "../../src/service/embeddings.ts";
import { ModelRouter } from "../../src/service/model-router.ts";
import { RequestService } from "../../src/service/request.ts";
import { RecordingMetrics } from "../http/harness.ts";
import { FakeEmbedder } from "../support/fake-embedding-engine.ts";

/** Sets up a model with three numbers per vector; `isKnown`: its size is known before it is loaded. */
function setUp(vectors: readonly number[][], isKnown: boolean) {
  const engine = new (class extends FakeEmbedder {
    override status(): EmbeddingStatus {
      const { dimensions: _, ...status } = super.status();
      return isKnown ? { ...status, dimensions: 3 } : status;
    }
    override async *run(...[work]: Parameters<FakeEmbedder["run"]>) {
      this.asked.push(work);
      const values = Float32Array.from(vectors.flat());
      yield { type: "result" as const, result: { values, dimensions: 3, tokens: 5, truncated: 1 } };
    }
  })("vectors");
  const router = new ModelRouter([new OfferedModels([offeredEmbeddings(engine, 1)])]);
  const subject = { kind: "text", model: "m" };
  const metrics = new RecordingMetrics();
  const requests = new RequestService({ metrics, clock: systemClock, maxQueue: 1, queueTimeoutMs: 0, subject });
  const service = new EmbeddingService({ router, requests });
  const inputs = vectors.map((_, at) => `input ${at}`);
  const embed = (dimensions?: number) =>
    service.embed(
      inputs,
      { origin: { id: "r" }, ...(dimensions !== undefined && { dimensions }) },
      new AbortController().signal,
      {},
    );
  return { engine, embed, metrics };
}

describe("dimensions", () => {
  test("shorten a vector to its first numbers and scale it back to length 1 unless it is zero", async () => {
    const { embed, engine, metrics } = setUp(
      [
        [0.3, 0.4, 12],
        [0, 0, 1],
        [0, -2, 1],
      ],
      true,
    );
    const { model, result } = await embed(2);
    expect([model, result.dimensions, result.tokens, result.truncated]).toEqual(["vectors", 2, 5, 1]);
    expect([...result.values].map((value) => Number(value.toFixed(6)))).toEqual([0.6, 0.8, 0, 0, 0, -1]);
    expect(engine.asked).toMatchObject([{ kind: "embed", dimensions: 2 }]);
    expect(metrics.calls).toEqual(["embedding started", "embedding finished stop"]);
  });

  test("leave vectors unchanged when they equal the model's or are absent", async () => {
    const { embed, engine } = setUp([[3, 4, 12]], true);
    for (const dimensions of [3, undefined]) expect([...(await embed(dimensions)).result.values]).toEqual([3, 4, 12]);
    expect(engine.asked.map((work) => "dimensions" in work && work.dimensions)).toEqual([3, false]);
  });

  test("greater than the model's are refused, before any computation when the model's size is known", async () => {
    for (const isKnown of [true, false]) {
      const { embed, engine } = setUp([[3, 4, 12]], isKnown);
      await expect(embed(4)).rejects.toMatchObject({
        code: "invalid_value",
        message: expect.stringContaining("from 1 to 3"),
        details: { param: "dimensions" },
      });
      expect(engine.asked).toHaveLength(isKnown ? 0 : 1);
    }
  });
});
