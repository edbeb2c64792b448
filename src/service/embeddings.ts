// Vectors and rankings: which model, how many at once, and what a client asked to have cut off.

import type { Clock } from "../domain/clock.ts";
import type { EmbeddingInput, EmbeddingKind, EmbeddingResult, EmbeddingWork } from "../domain/embedding.ts";
import { SvcError } from "../domain/errors.ts";
import type { EmbeddingOrigin, EmbeddingPort, EmbeddingStatus } from "../engine/embedding/port.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { Admission, admitted } from "./admission.ts";

/** What computes vectors with one model of another server. */
export interface EmbeddingBackend {
  readonly engine: EmbeddingPort;
  /** Requests that are in work at once; as many as `--max-queue` says may wait beyond these. */
  readonly parallel: number;
}

/** Models for vectors by their names; the same object at every call. */
export interface EmbeddingSource {
  findEmbedder(model: string): EmbeddingBackend | undefined;
}

export interface EmbeddingDeps {
  /** The first of a kind answers requests that name no model. */
  readonly engines: readonly EmbeddingPort[];
  /** Models for vectors beside these: those of other servers. */
  readonly others?: EmbeddingSource;
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
  readonly origin?: EmbeddingOrigin;
}

const OPTION: Readonly<Record<EmbeddingKind, string>> = { embed: "--embedding-model", rank: "--rerank-model" };
const NOUN: Readonly<Record<EmbeddingKind, string>> = { embed: "embedding model", rank: "reranker" };

export class EmbeddingService {
  /** The engines here share their places; each model of another server has places of its own. */
  private readonly admission: Admission;
  private readonly admissions = new WeakMap<EmbeddingPort, Admission>();

  constructor(private readonly deps: EmbeddingDeps) {
    this.admission = this.newAdmission(deps.parallel);
  }

  /** The models that are computed here, loaded or not. */
  models(): EmbeddingStatus[] {
    return this.deps.engines.map((engine) => engine.status());
  }

  /**
   * A vector for each input, shortened to `dimensions` where that is given. Throws SvcError (`model_not_found`,
   * `invalid_value`, `server_busy` and what the engine throws), or the signal's reason after an abort.
   */
  async embed(
    inputs: readonly EmbeddingInput[],
    { model, dimensions, origin }: Wanted & { readonly dimensions?: number },
    signal: AbortSignal,
  ): Promise<EmbeddingAnswer> {
    const engine = this.find("embed", model);
    const known = engine.status();
    checkDimensions(dimensions, known.dimensions);
    const wanted = dimensions === undefined ? {} : { dimensions };
    const result = await this.run(engine, { kind: "embed", inputs, ...wanted }, signal, origin);
    checkDimensions(dimensions, result.dimensions);
    const isLonger = dimensions !== undefined && dimensions < result.dimensions;
    return { model: known.modelId, result: isLonger ? shorten(result, dimensions) : result };
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
    const other = !found && model !== undefined && kind === "embed" ? this.findOther(model) : undefined;
    if (found ?? other) return (found ?? other) as EmbeddingPort;
    const names = served.map((engine) => engine.status().modelId).join(", ");
    const hint = names === "" ? `The server's option ${OPTION[kind]} names one.` : `Served: ${names}.`;
    const missing = `There is no ${NOUN[kind]}${model === undefined ? "" : " of this name"}.`;
    throw new SvcError("model_not_found", `${missing} ${hint}`, { param: "model" });
  }

  private findOther(model: string): EmbeddingPort | undefined {
    const backend = this.deps.others?.findEmbedder(model);
    if (!backend) return undefined;
    const { engine, parallel } = backend;
    if (!this.admissions.has(engine)) this.admissions.set(engine, this.newAdmission(parallel));
    return engine;
  }

  private newAdmission(parallel: number): Admission {
    return new Admission(parallel, this.deps.maxQueue, () => undefined);
  }

  private run(
    engine: EmbeddingPort,
    work: EmbeddingWork,
    signal: AbortSignal,
    origin?: EmbeddingOrigin,
  ): Promise<EmbeddingResult> {
    const admission = this.admissions.get(engine) ?? this.admission;
    return admitted(admission, this.deps, () => engine.run(work, signal, origin));
  }
}

/** Throws SvcError `invalid_value` about more numbers than a vector has. */
function checkDimensions(asked: number | undefined, most: number | undefined): void {
  if (asked === undefined || most === undefined || asked <= most) return;
  const message = `'dimensions' must be an integer from 1 to ${most} for this model; got ${asked}.`;
  throw new SvcError("invalid_value", message, { param: "dimensions" });
}

/** The front of each vector, brought back to length 1. */
function shorten(result: EmbeddingResult, dimensions: number): EmbeddingResult {
  const count = result.values.length / result.dimensions;
  const values = new Float32Array(count * dimensions);
  for (let at = 0; at < count; at++) {
    const front = result.values.subarray(at * result.dimensions, at * result.dimensions + dimensions);
    const length = Math.hypot(...front);
    values.set(front, at * dimensions);
    if (length > 0) for (const [index, value] of front.entries()) values[at * dimensions + index] = value / length;
  }
  return { ...result, values, dimensions };
}
