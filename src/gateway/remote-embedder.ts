// Implements the embedding engine port over an upstream, for one of its models.

import { refuseTooMany, type EmbeddingResult, type EmbeddingWork, type EmbedWork } from "../domain/embedding.ts";
import { SvcError } from "../domain/errors.ts";
import type { EmbeddingEvent, EmbeddingPort, EmbeddingStatus } from "../engine/embedding/port.ts";
import type { Logger } from "../telemetry/log.ts";
import type { RequestOrigin } from "../domain/request-origin.ts";
import type { AnswerMessages } from "./answer-messages.ts";
import type { Attempt } from "./attempt.ts";
import { Attempts } from "./attempts.ts";
import { parseLong } from "./long-json.ts";
import { decodeEmbed, encodeEmbed } from "./ollama/embeddings.ts";
import { decodeEmbeddings, encodeEmbeddings, type UpstreamVectors } from "./openai/embeddings.ts";
import type { Replica } from "./replica.ts";
import { inputKey } from "./prefix-key.ts";
import type { RequestBodies } from "./request-bodies.ts";
import { headersOf } from "./request-headers.ts";
import type { ServerKind } from "./server-kind.ts";
import type { Upstream } from "./upstream.ts";
import { passedOnAlready, streamedFailure, wrongAnswer } from "./upstream-failure.ts";

/** Inputs that are sent at once, because servers of OpenAI's API take no more. */
const INPUTS_AT_ONCE = 2048;
/**
 * Maximum numbers of a vector, and of all vectors of an answer: twice the size of any model's vectors, and enough for
 * the inputs that are sent at once at a common size.
 */
const MOST_NUMBERS = { vector: 16_384, all: INPUTS_AT_ONCE * 4096 } as const;
/** Maximum characters of a number, including separators. */
const LONGEST_NUMBER = 32;
/** Maximum characters, and values, of an answer beside its vectors. */
const BESIDE = 64 * 1024;

export class RemoteEmbedder implements EmbeddingPort {
  private running = 0;

  constructor(
    /** The model's name for clients, and the name on its server. */
    private readonly names: { readonly listed: string; readonly model: string },
    private readonly upstream: Upstream,
    private readonly options: { readonly log: Logger; readonly bodies: RequestBodies },
  ) {}

  status(): EmbeddingStatus {
    return { ...this.upstream.engineStatus(this.names.listed, this.running), kind: "embed" };
  }

  /** Emits the server's vectors unchanged. Throws as the port specifies, and converted failures of servers. */
  async *run(
    work: EmbeddingWork,
    signal: AbortSignal,
    origin?: RequestOrigin,
  ): AsyncGenerator<EmbeddingEvent, void, void> {
    if (work.kind !== "embed")
      throw new SvcError(
        "model_not_found",
        "Models of upstreams cannot rank documents; only rerankers of this server can.",
      );
    if (origin?.forwarded) throw passedOnAlready();
    this.running++;
    try {
      // The server does not report when it begins to compute, so a request counts as started once sent.
      yield { type: "accepted" };
      yield { type: "started", isAssumed: true };
      yield { type: "result", result: await this.compute(work, signal, origin) };
    } catch (error) {
      signal.throwIfAborted();
      throw aboutInput(error);
    } finally {
      this.running--;
    }
  }

  /** Sends the inputs in parts, one after the other: only one long answer is then in memory. */
  private async compute(work: EmbedWork, signal: AbortSignal, origin?: RequestOrigin): Promise<EmbeddingResult> {
    const { inputs } = work;
    const parts: EmbeddingResult[] = [];
    do {
      const at = parts.length * INPUTS_AT_ONCE;
      const part = await this.tryReplicas({ ...work, inputs: inputs.slice(at, at + INPUTS_AT_ONCE) }, signal, origin);
      refuseTooMany(inputs.length, part.dimensions);
      parts.push(part);
    } while (parts.length * INPUTS_AT_ONCE < inputs.length);
    return joined(parts as [EmbeddingResult, ...EmbeddingResult[]], inputs.length);
  }

  private async tryReplicas(work: EmbedWork, signal: AbortSignal, origin?: RequestOrigin): Promise<EmbeddingResult> {
    const key = inputKey(work.inputs[0]);
    const { model } = this.names;
    const check = ({ kind }: Replica) => void encode(kind, work, model);
    const attempts = new Attempts(this.upstream, { model, key, check });
    for await (const attempt of attempts.each(signal)) {
      try {
        const result = await this.ask(attempt, work, signal, origin);
        attempts.succeeded();
        return { ...result, servedBy: { replica: attempt.replica.url, retries: attempts.failedCount } };
      } catch (error) {
        attempts.failed(attempt.replica, error);
      }
    }
    throw new Error("attempts end with an answer or a failure");
  }

  private async ask(
    attempt: Attempt,
    work: EmbedWork,
    signal: AbortSignal,
    origin?: RequestOrigin,
  ): Promise<EmbeddingResult> {
    const { replica } = attempt;
    const { client, kind } = replica;
    const { model } = this.names;
    try {
      const { path, body } = encode(kind, work, model);
      const headers = origin ? headersOf(replica, origin) : {};
      const post = (json: string | Blob) => client.post(path, json, headers, signal);
      const response = await this.options.bodies.send(body, signal, post);
      const numbers = Math.min(work.inputs.length * MOST_NUMBERS.vector, MOST_NUMBERS.all);
      const answer = await only(client.messages(response, signal, numbers * LONGEST_NUMBER + BESIDE), numbers + BESIDE);
      const failure = streamedFailure(answer);
      if (failure) throw failure;
      const computed = resultOf((kind === "ollama" ? decodeEmbed : decodeEmbeddings)(answer), work.inputs.length);
      attempt.firstToken();
      attempt.finished({ promptTokens: computed.tokens, cachedTokens: 0, completionTokens: 0 });
      const truncated = Number(response.headers.get("x-embedding-truncated"));
      return { ...computed, truncated: Number.isSafeInteger(truncated) && truncated > 0 ? truncated : 0 };
    } catch (error) {
      if (signal.aborted || error instanceof SvcError) throw error;
      throw attempt.failed(error, this.options.log, origin?.id);
    } finally {
      attempt.end();
    }
  }
}

const encode = (kind: ServerKind, work: EmbedWork, model: string) =>
  kind === "ollama" ? encodeEmbed(work, model) : encodeEmbeddings(work, model, kind);

/** Returns the first message, which is the whole answer, with at most `mostValues` values. */
async function only(messages: AnswerMessages, mostValues: number): Promise<unknown> {
  try {
    for (let some = await messages.next(); some; some = await messages.next()) {
      if (some[0] !== undefined) return await parseLong(some[0], mostValues);
    }
    return undefined;
  } finally {
    await messages.end();
  }
}

/** Converts the vectors. Throws UpstreamFailure unless there is one for each input, all of equal length. */
function resultOf({ vectors, tokens }: UpstreamVectors, inputs: number): Omit<EmbeddingResult, "truncated"> {
  const [first] = vectors;
  const dimensions = Array.isArray(first) ? first.length : 0;
  if (vectors.length !== inputs || dimensions === 0) throw noVectors();
  const values = new Float64Array(inputs * dimensions);
  for (let at = 0; at < inputs; at++) {
    const vector = vectors[at];
    if (!isVector(vector) || vector.length !== dimensions) throw noVectors();
    values.set(vector, at * dimensions);
  }
  return { values, dimensions, tokens };
}

/** Joins the vectors of parts. Throws SvcError `upstream_error` unless all are of equal length. */
function joined(parts: readonly [EmbeddingResult, ...EmbeddingResult[]], inputs: number): EmbeddingResult {
  const [first] = parts;
  if (parts.length === 1) return first;
  const { dimensions, servedBy } = first;
  if (parts.some((part) => part.dimensions !== dimensions)) throw noVectors().error;
  const values = new Float64Array(inputs * dimensions);
  for (const [index, part] of parts.entries()) values.set(part.values, index * INPUTS_AT_ONCE * dimensions);
  const sum = (of: (part: EmbeddingResult) => number) => parts.reduce((total, part) => total + of(part), 0);
  return {
    values,
    dimensions,
    tokens: sum(({ tokens }) => tokens),
    truncated: sum(({ truncated }) => truncated),
    ...(servedBy && { servedBy: { ...servedBy, retries: sum((part) => part.servedBy?.retries ?? 0) } }),
  };
}

const isVector = (value: unknown): value is number[] =>
  Array.isArray(value) && value.every((one) => typeof one === "number" && Number.isFinite(one));

const noVectors = () => wrongAnswer("did not answer with a vector for each input");

/** Failures use the field names of chat; for vectors, what is too long is an input. */
function aboutInput(error: unknown): unknown {
  if (!(error instanceof SvcError) || error.code !== "context_length_exceeded") return error;
  return new SvcError(error.code, "An input has more tokens than this model takes.", { param: "input" });
}
