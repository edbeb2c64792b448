// Implements the text engine port over an upstream, for one of its models.

import type { CancelCause } from "../domain/cancel.ts";
import type { Clock } from "../domain/clock.ts";
import { SvcError } from "../domain/errors.ts";
import type { EngineEvent, GenerateRequest, OutputEvent } from "../domain/generate.ts";
import { appendEvents } from "../domain/held-text.ts";
import { noTokenizer, WithoutTokenizer, type TextPort, type TextStatus } from "../engine/text/port.ts";
import type { Logger } from "../telemetry/log.ts";
import { Adjustments } from "./adjustments.ts";
import { RemoteAnswer } from "./answer.ts";
import type { AnswerMessages } from "./answer-messages.ts";
import type { Attempt } from "./attempt.ts";
import { Attempts } from "./attempts.ts";
import { ChunkReader } from "./chunk-reader.ts";
import { enforces } from "./enforcement.ts";
import { decodeLine } from "./ollama/decode-line.ts";
import { decodeChunk } from "./openai/decode-chunk.ts";
import type { UpstreamCall } from "./openai/encode-request.ts";
import type { Piece } from "./output.ts";
import { prefixKey } from "./prefix-key.ts";
import { race, type Winner } from "./race.ts";
import type { ReadPace } from "./read-pace.ts";
import type { Replica } from "./replica.ts";
import type { RequestBodies } from "./request-bodies.ts";
import { headersOf } from "./request-headers.ts";
import { traitsOf, type ServerKind } from "./server-kind.ts";
import { Translation } from "./translation.ts";
import type { Upstream } from "./upstream.ts";
import { lost, passedOnAlready, type UpstreamFailure } from "./upstream-failure.ts";

interface Job {
  readonly stop: AbortController;
  cancelled: CancelCause | undefined;
  accepted: boolean;
  /** Answers by attempt. */
  readonly answers: Map<Attempt, RemoteAnswer>;
  readonly beganAt: number;
}

interface RemoteEngineOptions {
  readonly clock: Clock;
  readonly log: Logger;
  readonly bodies: RequestBodies;
  /** Of the streams of all upstreams. */
  readonly pace: ReadPace;
}

export class RemoteEngine extends WithoutTokenizer implements TextPort {
  protected readonly noTokenizer = noTokenizer(
    "This model is on another server, whose tokenizer is not within reach.",
    "model",
  );
  private readonly jobs = new Map<string, Job>();
  private readonly adjustments = new Adjustments();

  constructor(
    /** The model's name for clients, and the name on its server. */
    private readonly names: { readonly listed: string; readonly model: string },
    private readonly upstream: Upstream,
    private readonly options: RemoteEngineOptions,
  ) {
    super();
  }

  status(): TextStatus {
    return { ...this.upstream.engineStatus(this.names.listed, this.jobs.size), adapters: [] };
  }

  async *generate(request: GenerateRequest, signal: AbortSignal): AsyncGenerator<EngineEvent, void, void> {
    if (request.forwarded) throw passedOnAlready();
    const job: Job = {
      stop: new AbortController(),
      cancelled: undefined,
      accepted: false,
      answers: new Map(),
      beganAt: this.options.clock.now(),
    };
    const ends = AbortSignal.any([signal, job.stop.signal]);
    this.jobs.set(request.id, job);
    let winner: Winner | undefined;
    let retries = 0;
    try {
      const { attempts, ask } = this.attemptsOf(request, job, ends);
      for await (const attempt of attempts.each(ends)) {
        winner = yield* race(attempt, { attempts, ask, hedgeAfterMs: this.upstream.hedgeAfterMs(attempt.replica) });
        if (!winner) continue;
        attempts.succeeded();
        retries = attempts.failedCount;
        try {
          // A loop instead of yield*, which would cost an extra await per token.
          if (winner.first) yield winner.first;
          for await (const event of winner.rest) yield event;
          break;
        } catch (error) {
          // `failed` throws if the client has seen a part of the answer.
          attempts.failed(winner.attempt.replica, error);
          winner = undefined;
          job.answers.clear();
          yield { type: "restarted" };
        }
      }
    } catch (error) {
      signal.throwIfAborted();
      if (!job.cancelled) throw error;
      if (!job.accepted) yield accepted(false);
    } finally {
      job.stop.abort();
      if (this.jobs.get(request.id) === job) this.jobs.delete(request.id);
      // If the reader stops at the first event, the loop over the rest never began.
      await winner?.rest.return();
    }
    const now = this.options.clock.now();
    const firstAt = winner?.attempt.firstTokenAt ?? now;
    const begun = winner ? job.answers.get(winner.attempt) : [...job.answers.values()].at(-1);
    const answer = begun ?? this.newAnswer(request, undefined);
    for (const event of answer.takeHeld()) yield event;
    const finish = answer.finish(job.cancelled, { promptMs: firstAt - job.beganAt, completionMs: now - firstAt });
    yield winner ? { ...finish, servedBy: { replica: winner.attempt.replica.url, retries } } : finish;
  }

  cancel(id: string, cause: CancelCause): boolean {
    const job = this.jobs.get(id);
    if (!job) return false;
    job.cancelled = cause;
    job.stop.abort(new Error("cancelled"));
    return true;
  }

  /** Returns the attempts for a request, and the function that runs each of them. */
  private attemptsOf(request: GenerateRequest, job: Job, ends: AbortSignal) {
    const { model } = this.names;
    const translation = new Translation(request, model);
    const check = (replica: Replica) => void translation.for(replica);
    const attempts = new Attempts(this.upstream, { model, key: prefixKey(request), check });
    const ask = (attempt: Attempt, stopped: AbortSignal) =>
      this.ask(attempt, translation, request, job, AbortSignal.any([ends, stopped]));
    return { attempts, ask };
  }

  private async *ask(
    attempt: Attempt,
    translation: Translation,
    request: GenerateRequest,
    job: Job,
    signal: AbortSignal,
  ): AsyncGenerator<EngineEvent, void, void> {
    const { replica } = attempt;
    const { client, kind } = replica;
    const { pace } = this.options;
    const answer = this.newAnswer(request, replica);
    job.answers.set(attempt, answer);
    const chunks = new ChunkReader(kind === "ollama" ? decodeLine : decodeChunk);
    let begun = false;
    const add = (piece: Piece) => {
      attempt.heard();
      const events = answer.add(piece);
      if (!begun && events.some(({ type }) => type !== "progress")) {
        begun = true;
        attempt.firstToken();
        pace.begin();
      }
      return events;
    };
    /** What messages that came together have added. */
    const added: OutputEvent[] = [];
    let messages: AnswerMessages | undefined;
    try {
      const call = translation.for(replica);
      const headers = headersOf(replica, request);
      const post = (body: UpstreamCall["body"]) =>
        this.options.bodies.send(body, signal, (json) => client.post(call.path, json, headers, signal));
      const response = await this.adjustments.send(replica, call, post);
      messages = attempt.answer = client.messages(response, signal);
      yield* this.start(job, isDowngraded(request, kind, response));
      let some: readonly string[] | undefined;
      while (!answer.isCut && (some = await messages.next())) {
        const joins = pace.isOn;
        for (const read of joins ? chunks.readJoined(some) : some.values().map((json) => chunks.read(json))) {
          if (Symbol.asyncIterator in read) {
            for (const event of added.splice(0)) yield event;
            for await (const piece of read) for (const event of add(piece)) yield event;
            // Awaiting every piece would cost an extra await per token.
          } else if (joins) appendEvents(added, add(read));
          else added.push(...add(read));
          if (answer.isCut) break;
        }
        for (const event of added.splice(0)) yield event;
        // Neither the first text is held nor the end, nor what has come already.
        const isOver = answer.isFinished || answer.isCut;
        const turn = begun && !isOver && !messages.hasMore ? pace.next() : undefined;
        if (turn) await turn;
      }
      if (!answer.isFinished && !answer.isCut) throw lost("ended in the middle of the answer");
      attempt.finished(answer.tokens);
    } catch (error) {
      if (!signal.aborted) for (const event of added) yield event;
      if (signal.aborted || error instanceof SvcError) throw error;
      // What comes after the finish reason, such as the counts, is no reason to compute the answer again.
      if (answer.isFinished) return attempt.finished(answer.tokens);
      const failure = attempt.failed(error, this.options.log, request.id);
      throw request.whole || attempt.firstTokenAt === undefined ? failure : brokenOff(failure);
    } finally {
      if (begun) pace.end();
      attempt.end();
      await messages?.end();
    }
  }

  /**
   * Emits the first events. The server does not report when it begins to compute, so an accepted request counts as
   * started.
   */
  private *start(job: Job, downgraded: boolean): Generator<EngineEvent, void, void> {
    if (job.accepted) return;
    job.accepted = true;
    yield accepted(downgraded);
    yield { type: "started", isAssumed: true };
  }

  private newAnswer(request: GenerateRequest, replica: Replica | undefined): RemoteAnswer {
    const traits = replica && traitsOf(replica.kind);
    return new RemoteAnswer({
      splitThinking: traits !== undefined && !traits.separatesReasoning && request.prompt === undefined,
      beginning: traits?.repeatsBeginning && request.continueLast ? lastText(request) : "",
      ...callableOf(request),
      parallelToolCalls: request.parallelToolCalls,
      stop: request.stop,
      maxTokens: request.maxTokens,
      counts: request.counted !== undefined,
      asksForJson: request.constraint?.schema !== undefined && !traits?.enforcesSchemas,
    });
  }
}

/** Returns the error for an answer of which the client has seen a part. */
const brokenOff = ({ sick, error }: UpstreamFailure): SvcError => {
  const { replica } = error.details;
  const why = "The server of this model failed in the middle of the answer.";
  return sick === false ? error : new SvcError("upstream_error", why, replica === undefined ? {} : { replica });
};

const accepted = (downgraded: boolean): EngineEvent => ({ type: "accepted", promptTokens: 0, downgraded });

function lastText({ messages }: GenerateRequest): string {
  const content = messages.at(-1)?.content;
  return typeof content === "string" ? content : "";
}

/** Returns the tools that an answer may call, if the client limited them. */
function callableOf({ tools, allTools, toolChoice }: GenerateRequest): { callable?: ReadonlySet<string> } {
  if (!allTools && toolChoice !== "required") return {};
  return { callable: new Set(tools.map(({ name }) => name)) };
}

/** Returns whether the server does not enforce, or not fully, what the request has as strict, or says so itself. */
const isDowngraded = (request: GenerateRequest, kind: ServerKind, { headers }: Response): boolean =>
  headers.get("x-grammar-constraints") === "downgraded" ||
  (request.constraint?.strict === true && (request.constraint.inexpressible || !enforces(request, traitsOf(kind))));
