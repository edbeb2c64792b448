// Generates text: chooses the model, loads media and adapters, and merges several answers into one stream.

import { defaultAdapters } from "../domain/adapters.ts";
import { ByteBudget, type ByteAccount } from "../domain/byte-budget.ts";
import type { CancelCause } from "../domain/cancel.ts";
import { withFieldNames } from "../domain/errors.ts";
import {
  sampledFor,
  type AcceptedEvent,
  type EngineEvent,
  type FinishEvent,
  type GenerateEvent,
  type GenerateRequest,
  type Generations,
  type ReadInput,
} from "../domain/generate.ts";
import type { RequestOrigin } from "../domain/request-origin.ts";
import { Semaphore } from "../domain/semaphore.ts";
import { usageOf } from "../domain/usage.ts";
import type { MediaLimits } from "../media/limits.ts";
import { generateAll, splitChoices } from "./choices.ts";
import { refuseForeign } from "./foreign-fields.ts";
import type { ModelRouter, TextBackend } from "./model-router.ts";
import type { HeldAnswer } from "./held-answer.ts";
import { neverBegun } from "./never-begun.ts";
import type { InputReaders } from "./input-readers.ts";
import type { RequestRun } from "./request-run.ts";
import { withMedia, type LoadedRequest } from "./request-media.ts";
import type { RequestReport, RequestService, RequestSpec } from "./request.ts";

interface GenerationDeps {
  readonly router: ModelRouter;
  readonly requests: RequestService;
  readonly mediaLimits: MediaLimits;
  /** Maximum bytes of media of all requests that have not ended. */
  readonly mediaBytes?: number;
  /** Reads images and sounds for models that cannot; absent: such media are refused. */
  readonly readers?: InputReaders;
  readonly clock: { readonly now: () => number };
}

interface GenerationOptions extends Pick<RequestSpec, "assured"> {
  /**
   * Set if svc itself asks the question: media go to the model as they are, and because part of an answer is of no use,
   * the generation throws at a cancel or the deadline.
   */
  readonly isOwnQuestion?: boolean;
  /** Set if the client sees nothing of the answer before its end; counts the answer, and the caller must close it. */
  readonly held?: HeldAnswer | undefined;
}

/** Maximum bytes for decoding all requests' images: enough for one of the largest size and small ones beside it. */
const DECODING_BYTES = 600 * 2 ** 20;
/** Maximum bytes of all requests' media, from loading until the requests end: as many as one request may have. */
const MEDIA_BYTES = 400 * 2 ** 20;
/** Maximum bytes of media copies that engines hold for further answers. */
const COPIES_BYTES = 100 * 2 ** 20;

export class GenerationService {
  private readonly mediaLimits: MediaLimits;
  private readonly mediaBudget: ByteBudget;
  private readonly copies = new Semaphore(COPIES_BYTES);

  constructor(private readonly deps: GenerationDeps) {
    const { mediaLimits, mediaBytes = MEDIA_BYTES } = deps;
    this.mediaLimits = { ...mediaLimits, decoding: new Semaphore(DECODING_BYTES) };
    this.mediaBudget = new ByteBudget(mediaBytes, "images and sounds of requests");
  }

  /**
   * Runs generations of one request: `accepted` comes first, `finish` last. Throws SvcError (`server_busy`,
   * `shutting_down` and what the engine throws), or the signal's reason after an abort. At its deadline a generation
   * ends with reason `length`, or throws `deadline_exceeded` if no part of the answer exists yet. A consumer that stops
   * early must `return()` the iterator.
   */
  async *generate(
    generations: Generations,
    origin: RequestOrigin,
    signal: AbortSignal,
    report: RequestReport = {},
    { assured, isOwnQuestion = false, held }: GenerationOptions = {},
  ): AsyncGenerator<GenerateEvent, void, void> {
    const requests = generations.map(({ fieldNames: _names, ...one }) => ({
      ...one,
      ...origin,
      ...(held && { whole: true as const }),
    }));
    const backend = this.deps.router.find(generations[0].model, "chat");
    for (const request of requests) refuseForeign(request, backend);
    const places = requests.reduce((sum, { choices }) => sum + choices, 0);
    /** The ids of the jobs that the engine was given. */
    const begun = new Set<string>();
    // A job that the engine was given and does not have any more is complete.
    const cancel = (key: string, cause: CancelCause) => backend.engine.cancel(key, cause) || !begun.has(key);
    const spec = { ...origin, assured, backend, places, ...(!isOwnQuestion && { cancel }) };
    const media = this.mediaBudget.open();
    try {
      const events = this.deps.requests.run(spec, signal, report, {
        begin: (live) => this.begin(backend, requests, live, begun, media, isOwnQuestion),
        observe: this.observer(generations, report, held),
      });
      // A loop instead of yield*, which would cost an extra await per token.
      for await (const event of events) yield event;
    } catch (error) {
      throw withFieldNames(error, generations[0].fieldNames);
    } finally {
      media.close();
    }
  }

  /**
   * Returns the tokens of a request's prompt, including those of images and sounds. Takes no place in the queue, and no
   * prompt is too long; otherwise throws what `generate` would about the prompt, and `tokenize_unsupported`.
   */
  async countTokens(request: GenerateRequest, signal: AbortSignal): Promise<number> {
    const backend = this.deps.router.find(request.model, "chat");
    if (backend.surface) throw backend.surface.noTokenizer;
    const media = this.mediaBudget.open();
    try {
      const [loaded] = await this.withMedia(backend, [request], signal, media);
      return await backend.engine.countTokens(loaded?.request ?? request, signal);
    } catch (error) {
      throw withFieldNames(error, request.fieldNames);
    } finally {
      media.close();
    }
  }

  /** Throws the error with which a client's request for this model would be refused now. */
  checkCapacity(model: string | undefined, origin: Pick<RequestOrigin, "holder">): void {
    this.deps.requests.checkCapacity([this.deps.router.find(model, "chat")], origin);
  }

  /** Returns an observer that counts tokens, measures times and fills in the report. */
  private observer(
    [{ choices, counted, returnProgress }, ...others]: Generations,
    report: RequestReport,
    held: HeldAnswer | undefined,
  ) {
    const finishes: FinishEvent[] = [];
    let ended = 0;
    /** Times of the last text, by answer. */
    const lastTextAt: number[] = [];
    return (event: EngineEvent, live: RequestRun): void | false => {
      if (event.type !== "started") held?.add(event);
      if (event.type === "accepted") {
        live.promptTokens = event.promptTokens;
      } else if (event.type === "finish") {
        if (++ended === live.keys.length) live.settled();
        finishes[event.choice ?? 0] = event;
        report.reason = event.reason;
        report.usage = usageOf(finishes, choices);
        if (event.servedBy) report.servedBy = event.servedBy;
      } else if (event.type === "progress") {
        // The operator's views show prompt progress even if the client does not want it.
        if (others.length === 0 && !event.choice) live.processedTokens = event.processed;
        // Upstreams accept a request before they have counted its prompt tokens.
        if (others.length === 0) live.promptTokens ||= event.total;
        if (!returnProgress && !counted) return false;
      } else if (event.type === "restarted") {
        if (!held) return false;
      } else {
        const now = this.deps.clock.now();
        const tokens = sampledFor(event);
        const choice = event.choice ?? 0;
        const before = lastTextAt[choice];
        if (before === undefined) live.metrics.firstToken(now - live.admittedAt, tokens);
        else live.metrics.interToken(now - before, tokens);
        report.firstTextMs ??= now - live.admittedAt;
        lastTextAt[choice] = now;
        live.completionTokens += tokens;
      }
    };
  }

  /**
   * Returns the engine's events, or those of `neverBegun` if the request is cancelled before the engine has it. Adds the
   * ids of the jobs that the engine gets to `begun`.
   */
  private async begin(
    backend: TextBackend,
    requests: readonly GenerateRequest[],
    { signal, stopped, keys, metrics }: RequestRun,
    begun: Set<string>,
    media: ByteAccount,
    asMedia: boolean,
  ): Promise<AsyncIterable<EngineEvent>> {
    const { engine, surface } = backend;
    const { adapters: offered } = engine.status();
    const adapters = requests[0]?.adapters ?? defaultAdapters(offered);
    // The engine refuses numbers of other adapters.
    for (const { id } of adapters) if (offered[id]) metrics.adapterChosen(offered[id].name);
    const untilStopped = AbortSignal.any([signal, stopped]);
    const loaded = await this.withMedia(backend, requests, untilStopped, media, asMedia).catch((error: unknown) => {
      if (signal.aborted || !stopped.aborted) throw error;
    });
    if (!loaded || stopped.aborted) return neverBegun(keys.length, stopped.reason as CancelCause);
    const none = !backend.takesForeignFields && { hints: undefined };
    const adapted = loaded.map(({ request: { holder: _holder, ...request } }) => ({ ...request, adapters, ...none }));
    const answers = splitChoices(surface ? adapted.map(surface.narrow) : adapted, keys);
    const generate = (request: GenerateRequest, until: AbortSignal) => {
      begun.add(request.id);
      return engine.generate(request, until);
    };
    const options = { signal, stopped, parallel: backend.parallel, copies: this.copies };
    const events = generateAll({ generate }, answers, options);
    const readInputs = loaded.flatMap((one) => one.readInputs);
    return readInputs.length > 0 ? telling(events, readInputs) : events;
  }

  private async withMedia(
    backend: TextBackend,
    requests: readonly GenerateRequest[],
    signal: AbortSignal,
    media: ByteAccount,
    asMedia = false,
  ): Promise<readonly LoadedRequest[]> {
    const { readers } = this.deps;
    const hold = (bytes: number) => media.add(bytes);
    const options = { limits: this.mediaLimits, hold, ...(readers && !asMedia && { readers }) };
    return Promise.all(requests.map((request) => withMedia(request, backend, options, signal)));
  }
}

/** Reads the first event of a generation. Throws what the generation throws. */
export async function acceptance(events: AsyncIterator<GenerateEvent>): Promise<AcceptedEvent> {
  const { value } = await events.next();
  if (value?.type === "accepted") return value;
  throw new Error("a generation without its acceptance");
}

/** Passes events on, and adds to the acceptance what was read from media. */
async function* telling(
  events: AsyncIterable<EngineEvent>,
  readInputs: readonly ReadInput[],
): AsyncGenerator<EngineEvent, void, void> {
  for await (const event of events) yield event.type === "accepted" ? { ...event, readInputs } : event;
}
