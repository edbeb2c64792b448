// Computes vectors and rankings: chooses the model, and shortens vectors if the client wants that.

import {
  refuseTooMany,
  vectorsOf,
  type EmbeddingInput,
  type EmbeddingResult,
  type EmbeddingWork,
  type EmbedWork,
  type RankWork,
} from "../domain/embedding.ts";
import { invalidValue, SvcError } from "../domain/errors.ts";
import { noUsage } from "../domain/usage.ts";
import type { RequestOrigin } from "../domain/request-origin.ts";
import type { EmbeddingPort } from "../engine/embedding/port.ts";
import { refuseForeign } from "./foreign-fields.ts";
import type { Backend, ModelRouter } from "./model-router.ts";
import type { RequestReport, RequestService } from "./request.ts";

interface EmbeddingDeps {
  readonly router: ModelRouter;
  readonly requests: RequestService;
}

/** The result, and the model that computed it. */
interface EmbeddingAnswer {
  readonly model: string;
  readonly result: EmbeddingResult;
}

export interface EmbeddingReport extends RequestReport {
  /** How many inputs were truncated. */
  truncated?: number;
}

/** The origin of a request, and its model; undefined: the server's first one. */
interface EmbeddingCall {
  readonly model?: string | undefined;
  readonly origin: RequestOrigin;
}

/** The result for no inputs. */
const NO_VECTORS: EmbeddingResult = { values: new Float32Array(), dimensions: 1, tokens: 0, truncated: 0 };

export class EmbeddingService {
  constructor(private readonly deps: EmbeddingDeps) {}

  /**
   * Returns a vector for each input, shortened to `dimensions` if given. Throws SvcError (`model_not_found`,
   * `invalid_value`, `unsupported_parameter`, `server_busy`, `deadline_exceeded`, `request_cancelled` and what the
   * engine throws), or the signal's reason after an abort.
   */
  async embed(
    inputs: readonly EmbeddingInput[],
    call: EmbeddingCall & Pick<EmbedWork, "dimensions" | "foreign" | "refuseLong">,
    signal: AbortSignal,
    report: EmbeddingReport,
  ): Promise<EmbeddingAnswer> {
    const { model, dimensions, foreign, origin } = call;
    const backend = this.deps.router.find(model, "embeddings");
    const own = { ...(foreign && { foreign }), ...strictness(call) };
    refuseForeign(own, backend);
    const { dimensions: most } = backend.engine.status();
    checkDimensions(dimensions, most);
    if (most !== undefined) refuseTooMany(inputs.length, most);
    if (inputs.length === 0) {
      Object.assign(report, { model: backend.model, reason: "stop", usage: noUsage() } satisfies EmbeddingReport);
      return { model: backend.model, result: NO_VECTORS };
    }
    const wanted = dimensions === undefined ? {} : { dimensions };
    const answer = await this.run(backend, { kind: "embed", inputs, ...wanted, ...own }, origin, signal, report);
    const { result } = answer;
    checkDimensions(dimensions, result.dimensions);
    const isLonger = dimensions !== undefined && dimensions < result.dimensions;
    return isLonger ? { ...answer, result: await shorten(result, dimensions) } : answer;
  }

  /** Returns the relevance of each document to the query. Throws as `embed` does, and `context_length_exceeded`. */
  async rank(
    query: string,
    documents: readonly string[],
    call: EmbeddingCall & Pick<RankWork, "refuseLong">,
    signal: AbortSignal,
    report: EmbeddingReport,
  ): Promise<EmbeddingAnswer> {
    const backend = this.deps.router.find(call.model, "rerank");
    return this.run(backend, { kind: "rank", query, documents, ...strictness(call) }, call.origin, signal, report);
  }

  private async run(
    backend: Backend<EmbeddingPort>,
    work: EmbeddingWork,
    origin: RequestOrigin,
    signal: AbortSignal,
    report: EmbeddingReport,
  ): Promise<EmbeddingAnswer> {
    const spec = { ...origin, backend };
    const begin = (live: AbortSignal) => backend.engine.run(work, live, origin);
    const events = this.deps.requests.compute(spec, signal, report, begin, ({ result }) => noUsage(result.tokens));
    for await (const event of events) {
      if (event.type !== "result") continue;
      const { result } = event;
      report.truncated = result.truncated;
      if (result.servedBy) report.servedBy = result.servedBy;
      return { model: backend.model, result };
    }
    throw new SvcError("internal_error", "The engine gave no result.");
  }
}

const strictness = ({ refuseLong }: Pick<RankWork, "refuseLong">) => (refuseLong === undefined ? {} : { refuseLong });

/** Throws SvcError `invalid_value` when more dimensions are wanted than a vector has. */
function checkDimensions(wanted: number | undefined, most: number | undefined): void {
  if (wanted === undefined || most === undefined || wanted <= most) return;
  throw invalidValue("dimensions", `be an integer from 1 to ${most} for this model`, wanted);
}

/** Keeps the first `dimensions` values of each vector and normalizes it to length 1 again. */
async function shorten(result: EmbeddingResult, dimensions: number): Promise<EmbeddingResult> {
  const values = new Float32Array((result.values.length / result.dimensions) * dimensions);
  let at = 0;
  for await (const vector of vectorsOf(result)) {
    const front = vector.subarray(0, dimensions);
    const length = Math.hypot(...front) || 1;
    for (const value of front) values[at++] = value / length;
  }
  return { ...result, values, dimensions };
}
