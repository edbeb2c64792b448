// One request inside the engine process, from acceptance to its last token: its sampler, answer and times.

import type { Llama, SamplerId } from "../../../../ffi/llama/api.ts";
import type { Clock } from "../../../domain/clock.ts";
import type { FinishEvent, OutputEvent } from "../../../domain/generate.ts";
import type { FinishReason, TokenLogprob, Usage } from "../../../domain/usage.ts";
import { Unfenced } from "../../../text/unfenced.ts";
import type { JobKey } from "../../process/protocol.ts";
import type { ScoredEvent, StepEvent, StepFinish } from "../protocol.ts";
import { ParsedAnswer, PlainAnswer, type Answer } from "./answer.ts";
import type { ReadyPrompt } from "./intake.ts";

export class ActiveRequest {
  readonly key: JobKey;
  readonly sampler: SamplerId;
  // The whole request is not kept, because its images and sound are large.
  private readonly stop: readonly string[];
  private readonly maxTokens: number | undefined;
  private readonly maxPredictMs: number;
  private hasLineBreak = false;
  private readonly withLogprobs: boolean;
  private readonly tellsProgress: boolean;
  private readonly promptTokens: number;
  private readonly acceptedAt: number;
  /** Whether its answer is parsed. */
  readonly isParsed: boolean;
  private readonly answer: Answer;
  /** Set if the answer must be JSON, and no grammar makes it so. */
  private readonly unfenced: Unfenced | undefined;
  private readonly preserved: ReadonlySet<number>;
  private readonly constrained: boolean;
  private completionTokens = 0;
  /** Completion tokens since the last event. */
  private unsent = 0;
  private startedAt: number | undefined;
  private firstTokenAt: number | undefined;
  private lastTokenAt: number | undefined;
  private peakBytes = 0;
  /** Token ids, when requested: of the prompt, of the answer, and of the answer since its last text event. */
  private readonly ids: { readonly prompt: readonly number[]; readonly answer: number[]; fresh: number[] } | undefined;
  private progressed = 0;
  /** Log probabilities of the prompt's tokens, when requested, since the last event with some. */
  private scores: ScoredEvent | undefined;
  /** The model ended its turn, or the answer is complete. */
  stopped = false;
  /** The answer ends early: its time is over, or its grammar has a dead end or takes too long. */
  isCut = false;
  /** The request ends for a reason outside of the answer. */
  isCancelled = false;

  constructor(
    { key, request, tokens, format, sampler }: ReadyPrompt,
    private readonly llama: Llama,
    clock: Clock,
    /** Returns how many requests with parsed answers get tokens at present. */
    readers: () => number,
  ) {
    this.key = key;
    this.sampler = sampler;
    this.stop = request.stop;
    this.maxTokens = request.maxTokens;
    this.maxPredictMs = request.maxPredictMs ?? Number.POSITIVE_INFINITY;
    this.withLogprobs = request.topLogprobs !== undefined;
    this.tellsProgress = request.returnProgress === true;
    this.promptTokens = tokens.length;
    this.acceptedAt = clock.now();
    if (request.promptLogprobs) {
      const first = [...tokens.subarray(0, 1)].map((token) => ({
        ...this.textOf(token, true),
        logprob: null,
        top: [],
      }));
      this.scores = { type: "scored", from: 0, tokens: first };
    }
    if (request.returnTokens) this.ids = { prompt: [...tokens].filter((id) => id >= 0), answer: [], fresh: [] };
    this.preserved = new Set(format.preserved);
    this.constrained = format.constrained;
    const isEnforced = format.constrained && !format.unconstrained;
    if (request.constraint?.schema && !isEnforced) this.unfenced = new Unfenced();
    const stops = [...format.stops, ...request.stop];
    this.isParsed = format.parsed;
    this.answer = format.parsed
      ? new ParsedAnswer(
          {
            push: (bytes) => llama.pushAnswer(sampler, bytes),
            read: (final) => llama.readAnswer(sampler, final),
          },
          {
            stops,
            tools: request.tools.map(({ name }) => name),
            thinkingEnds: format.thinkingEnds,
            parallelToolCalls: request.parallelToolCalls,
            now: clock.now,
            readers,
          },
        )
      : new PlainAnswer(stops);
  }

  /** Its computation begins with `cached` prompt tokens in the cache; returns a progress event, when requested. */
  started(cached: number, now: number): OutputEvent[] {
    if (this.startedAt !== undefined) return [];
    this.startedAt = now;
    if (!this.tellsProgress) return [];
    this.progressed = cached;
    return [{ type: "progress", total: this.promptTokens, cached, processed: cached, ms: 0 }];
  }

  residentBytes(bytes: number): void {
    this.peakBytes = Math.max(this.peakBytes, bytes);
  }

  /** Takes a sampled token; returns the events that it completes. `more`: further tokens were sampled already. */
  accept(token: number, now: number, more: boolean): OutputEvent[] {
    const { llama } = this;
    this.completionTokens++;
    this.unsent++;
    this.firstTokenAt ??= now;
    this.lastTokenAt = now;
    this.isCut = this.constrained && !more && llama.isStuck(this.sampler);
    if (llama.isEnd(token)) {
      this.stopped = !this.isCut;
      return [];
    }
    this.ids?.answer.push(token);
    this.ids?.fresh.push(token);
    const logprob = this.withLogprobs ? this.logprob() : undefined;
    const bytes = llama.piece(token, this.preserved.has(token));
    const events = this.shown(this.answer.push(bytes, more, logprob));
    this.hasLineBreak ||= bytes.includes(LINE_FEED);
    this.isCut ||= this.hasLineBreak && now - this.firstTokenAt > this.maxPredictMs;
    this.stopped = this.answer.complete;
    return this.reported(events);
  }

  /** The last step computed the prompt's rows at these indices; each has the log probabilities of the next token. */
  scored(indices: readonly number[]): void {
    const [first = 0] = indices;
    const { from, tokens } = this.scores ?? { from: first + 1, tokens: [] };
    const scored = this.llama.scores(this.sampler, indices.length).flatMap((entries) => {
      const [own, ...top] = entries.map(({ token, logprob }) => ({ ...this.textOf(token, true), logprob }));
      return own ? [{ ...own, top }] : [];
    });
    this.scores = { type: "scored", from, tokens: [...tokens, ...scored] };
  }

  /**
   * Returns what the last step has computed of the prompt: its log probabilities, and a progress event when more of it
   * is in the cache; `cached` of it was there at the start.
   */
  progress(processed: number, cached: number, now: number): StepEvent[] {
    const scored = this.scores ? [this.scores] : [];
    this.scores = undefined;
    if (this.firstTokenAt !== undefined || processed === this.progressed) return scored;
    this.progressed = processed;
    const total = this.promptTokens;
    return [...scored, { type: "progress", total, cached, processed, ms: now - (this.startedAt ?? now) }];
  }

  /** Ends the answer; returns the events that were held back. `reason`: why it ends, as far as is known by now. */
  end(reason: FinishReason): OutputEvent[] {
    return this.reported(this.shown(this.answer.end(reason === "stop"), true));
  }

  private shown(events: OutputEvent[], isEnd = false): OutputEvent[] {
    return this.unfenced?.push(events, isEnd) ?? events;
  }

  /** Returns the last event. `droppedTokens`: how many were dropped because the context was full. */
  finish(reason: FinishReason, cachedTokens: number, droppedTokens: number, now: number): StepFinish {
    const started = this.startedAt ?? now;
    const first = this.firstTokenAt ?? now;
    const usage: Usage = {
      promptTokens: this.promptTokens,
      cachedTokens,
      completionTokens: this.completionTokens,
      reasoningTokens: this.answer.reasoningTokens,
      queueMs: started - this.acceptedAt,
      promptMs: first - started,
      completionMs: (this.lastTokenAt ?? first) - first,
      peakMemoryBytes: this.peakBytes,
    };
    const { stopSequence, called, complete } = this.answer;
    // The text that was held back may have completed the answer.
    const ended = reason === "length" && complete ? "stop" : reason;
    const event: FinishEvent = {
      type: "finish",
      reason: ended === "stop" && called ? "tool_calls" : ended,
      ...(stopSequence !== undefined && this.stop.includes(stopSequence) && { stopSequence }),
      ...(ended === "length" &&
        !this.isCancelled &&
        !this.isCut &&
        this.completionTokens !== this.maxTokens && { contextFull: true }),
      ...(droppedTokens > 0 && { contextShifted: true }),
      usage,
      ...(this.ids && { tokens: { prompt: this.ids.prompt, answer: this.ids.answer } }),
    };
    return { key: this.key, event };
  }

  /** Adds to the last event how many tokens were sampled for all, unless that is one; the others then get 0. */
  private reported(events: OutputEvent[]): OutputEvent[] {
    const reported = this.withIds(events);
    const last = reported.at(-1);
    if (!last || last.type === "progress") return reported;
    const sampled = this.unsent;
    this.unsent = 0;
    const others = reported.slice(0, -1).map((event) => ({ ...event, sampled: 0 }));
    return [...others, sampled === 1 ? last : { ...last, sampled }];
  }

  /** Adds to the last text event the token ids since the text event before. */
  private withIds(events: OutputEvent[]): OutputEvent[] {
    const { ids } = this;
    const last = ids ? events.findLastIndex(({ type }) => type === "text") : -1;
    const event = events[last];
    if (!ids || event?.type !== "text") return events;
    const tokens = ids.fresh;
    ids.fresh = [];
    return events.with(last, { ...event, tokens });
  }

  private logprob(): TokenLogprob {
    const entries = this.llama
      .logprobs(this.sampler)
      .map(({ token, logprob }) => ({ ...this.textOf(token, this.preserved.has(token)), logprob }));
    const [chosen, ...top] = entries;
    if (!chosen) throw new Error("the sampler kept no log probabilities");
    return { ...chosen, top };
  }

  private textOf(token: number, special: boolean): { token: string; id: number; bytes: number[] } {
    const bytes = this.llama.piece(token, special);
    return { token: decoder.decode(bytes), id: token, bytes: [...bytes] };
  }
}

const decoder = new TextDecoder();
const LINE_FEED = 10;
