// Vectors and rankings: which model, how many at once, and what a client asked to have cut off.

import type { Clock } from "../domain/clock.ts";
import type { EmbeddingInput, EmbeddingKind, EmbeddingResult, EmbeddingWork } from "../domain/embedding.ts";
import { SvcError } from "../domain/errors.ts";
import type { EmbeddingPort, EmbeddingStatus } from "../engine/embedding/port.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { Admission } from "./admission.ts";

export interface EmbeddingDeps {
  /** The first of a kind answers requests that name no model. */
  readonly engines: readonly EmbeddingPort[];
  readonly metrics: Metrics;
  readonly clock: Clock;
  /** Requests in work at once, and those that may wait beyond them. */
  readonly parallel: number;
  readonly maxQueue: number;
}

/** What was computed, and by which model. */
export interface EmbeddingAnswer {
  readonly model: string;
  readonly result: EmbeddingResult;
}

interface Wanted {
  readonly model?: string;
}

const OPTION: Readonly<Record<EmbeddingKind, string>> = { embed: "--embedding-model", rank: "--rerank-model" };
const NOUN: Readonly<Record<EmbeddingKind, string>> = { embed: "embedding model", rank: "reranker" };

export class EmbeddingService {
  private readonly admission: Admission;

  constructor(private readonly deps: EmbeddingDeps) {
    this.admission = new Admission(deps.parallel, deps.maxQueue, () => undefined);
  }

  /** The models that can be asked, loaded or not. */
  models(): EmbeddingStatus[] {
    return this.deps.engines.map((engine) => engine.status());
  }

  /**
   * A vector of length 1 for each input, shortened to `dimensions` where that is given. Throws SvcError (`model_not_found`,
   * `invalid_value`, `server_busy` and what the engine throws), or the signal's reason after an abort.
   */
  async embed(
    inputs: readonly EmbeddingInput[],
    { model, dimensions }: Wanted & { readonly dimensions?: number },
    signal: AbortSignal,
  ): Promise<EmbeddingAnswer> {
    const engine = this.find("embed", model);
    const known = engine.status();
    if (dimensions !== undefined && dimensions > known.dimensions) {
      const message = `'dimensions' must be an integer from 1 to ${known.dimensions} for this model; got ${dimensions}.`;
      throw new SvcError("invalid_value", message, { param: "dimensions" });
    }
    const result = await this.run(engine, { kind: "embed", inputs }, signal);
    return { model: known.modelId, result: dimensions === undefined ? result : shorten(result, dimensions) };
  }

  /** The relevance of each document to the query. Throws as `embed` does, and `context_length_exceeded`. */
  async rank(
    query: string,
    documents: readonly string[],
    { model }: Wanted,
    signal: AbortSignal,
  ): Promise<EmbeddingAnswer> {
    const engine = this.find("rank", model);
    const result = await this.run(engine, { kind: "rank", query, documents }, signal);
    return { model: engine.status().modelId, result };
  }

  /** Ends all engines. */
  async stop(): Promise<void> {
    await Promise.all(this.deps.engines.map((engine) => engine.stop()));
  }

  private find(kind: EmbeddingKind, model: string | undefined): EmbeddingPort {
    const served = this.deps.engines.filter((engine) => engine.status().kind === kind);
    const found = model === undefined ? served[0] : served.find((engine) => engine.status().modelId === model);
    if (found) return found;
    const names = served.map((engine) => engine.status().modelId).join(", ");
    const hint = names === "" ? `None is served: ${OPTION[kind]} names one.` : `Served: ${names}.`;
    throw new SvcError("model_not_found", `There is no ${NOUN[kind]} of this name. ${hint}`, { param: "model" });
  }

  private async run(engine: EmbeddingPort, work: EmbeddingWork, signal: AbortSignal): Promise<EmbeddingResult> {
    const { metrics, clock } = this.deps;
    try {
      this.admission.enter();
    } catch (error) {
      metrics.rejected("queue_full");
      throw error;
    }
    const started = clock.now();
    try {
      return await engine.run(work, signal);
    } finally {
      this.admission.leave(clock.now() - started);
    }
  }
}

/** The front of each vector, brought back to length 1. */
function shorten(result: EmbeddingResult, dimensions: number): EmbeddingResult {
  const count = result.values.length / result.dimensions;
  const values = new Float32Array(count * dimensions);
  for (let at = 0; at < count; at++) {
    const front = result.values.subarray(at * result.dimensions, at * result.dimensions + dimensions);
    const length = Math.hypot(...front);
    values.set(
      front.map((value) => (length === 0 ? 0 : value / length)),
      at * dimensions,
    );
  }
  return { ...result, values, dimensions };
}
