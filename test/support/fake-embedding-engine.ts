// An embedding engine in memory, for tests of everything above its port. Its vectors depend on nothing but the input.

import {
  refuseTooLong,
  type EmbeddingKind,
  type EmbeddingResult,
  type EmbeddingWork,
} from "../../src/domain/embedding.ts";
import type { EmbeddingEvent, EmbeddingPort, EmbeddingStatus } from "../../src/engine/embedding/port.ts";
import type { RequestOrigin } from "../../src/domain/request-origin.ts";
import type { ServedBy } from "../../src/domain/upstream.ts";
import { FakeEngine } from "./fake-engine.ts";

export const FAKE_DIMENSIONS = 4;
/** Most characters or ids of an input; the rest is cut off. */
export const FAKE_MAX_TOKENS = 32;

export class FakeEmbedder extends FakeEngine implements EmbeddingPort {
  /** The requests received, in order. */
  readonly asked: EmbeddingWork[] = [];
  /** The origin of each request, in the same order. */
  readonly origins: Partial<RequestOrigin>[] = [];
  /** Numbers in a vector; those beyond the first four are 0. */
  dimensions = FAKE_DIMENSIONS;
  /** Whether their number is known before the first vector. */
  knowsSize = true;
  vectorOf = vectorOf;
  /** Scores of documents, in place of the fake's own. */
  probabilities?: readonly number[];
  /** Which replica answers, as an upstream's engine reports it. */
  servedBy?: ServedBy;

  constructor(
    modelId: string,
    readonly kind: EmbeddingKind = "embed",
  ) {
    super(modelId);
  }

  status(): EmbeddingStatus {
    return {
      ...this.plain,
      kind: this.kind,
      maxTokens: FAKE_MAX_TOKENS,
      ...(this.knowsSize && { dimensions: this.kind === "rank" ? 1 : this.dimensions }),
    };
  }

  async *run(
    work: EmbeddingWork,
    signal: AbortSignal,
    origin: Partial<RequestOrigin> = {},
  ): AsyncGenerator<EmbeddingEvent, void, void> {
    this.state = "ready";
    this.asked.push(work);
    this.origins.push(origin);
    const texts = work.kind === "embed" ? work.inputs : work.documents;
    refuseTooLong(
      work,
      FAKE_MAX_TOKENS,
      texts.findIndex(({ length }) => length > FAKE_MAX_TOKENS),
    );
    yield { type: "accepted" };
    await this.opened(signal);
    signal.throwIfAborted();
    yield { type: "started" };
    const { servedBy } = this;
    yield { type: "result", result: { ...this.compute(work), ...(servedBy && { servedBy }) } };
  }

  private compute(work: EmbeddingWork): EmbeddingResult {
    if (work.kind === "embed") {
      const more = Array.from({ length: this.dimensions - FAKE_DIMENSIONS }, () => 0);
      const values = work.inputs.flatMap((input) => [...this.vectorOf(input), ...more]);
      return result(values, this.dimensions, work.inputs);
    }
    if (this.probabilities) return { ...result(this.probabilities, 1, work.documents), probabilities: true };
    const scores = work.documents.map((document) => shared(work.query, document));
    return result(scores, 1, work.documents);
  }
}

type Sized = { readonly length: number };

function result(values: readonly number[], dimensions: number, inputs: readonly Sized[]): EmbeddingResult {
  const tokens = inputs.reduce((sum, { length }) => sum + Math.min(length, FAKE_MAX_TOKENS), 0);
  const truncated = inputs.filter(({ length }) => length > FAKE_MAX_TOKENS).length;
  return { values: Float32Array.from(values), dimensions, tokens, truncated };
}

/** Returns the vector 3, 4, 0, length of the input, scaled to length 1. */
function vectorOf({ length }: Sized): number[] {
  const size = Math.hypot(3, 4, length);
  return [3 / size, 4 / size, 0, length / size];
}

const shared = (query: string, document: string): number =>
  [...query].filter((letter) => document.includes(letter)).length;
