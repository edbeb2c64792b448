// One request inside the engine process, from acceptance to its last token: sampler, answer and times.

import type { Llama, SamplerId } from "../../../../ffi/llama/api.ts";
import type { Clock } from "../../../domain/clock.ts";
import type { FinishEvent, OutputEvent } from "../../../domain/generate.ts";
import type { FinishReason, TokenLogprob, Usage } from "../../../domain/usage.ts";
import type { JobKey } from "../../process/protocol.ts";
import type { StepFinish } from "../protocol.ts";
import { ParsedAnswer, PlainAnswer, type Answer } from "./answer.ts";
import type { ReadyPrompt } from "./intake.ts";

export class ActiveRequest {
  readonly key: JobKey;
  readonly sampler: SamplerId;
  // Not the whole request: its images and sound are large.
  private readonly stop: readonly string[];
  private readonly maxTokens: number | undefined;
  private readonly withLogprobs: boolean;
  private readonly promptTokens: number;
  private readonly acceptedAt: number;
  private readonly answer: Answer;
  private readonly preserved: ReadonlySet<number>;
  private readonly constrained: boolean;
  private completionTokens = 0;
  private startedAt: number | undefined;
  private firstTokenAt: number | undefined;
  private lastTokenAt: number | undefined;
  private peakBytes = 0;
  /** The model ended its turn, or the answer is complete. */
  stopped = false;
  /** It ends for a cause outside of the answer. */
  isCancelled = false;

  constructor(
    { key, request, tokens, format, sampler }: ReadyPrompt,
    private readonly llama: Llama,
    clock: Clock,
  ) {
    this.key = key;
    this.sampler = sampler;
    this.stop = request.stop;
    this.maxTokens = request.maxTokens;
    this.withLogprobs = request.topLogprobs !== undefined;
    this.promptTokens = tokens.length;
    this.acceptedAt = clock.now();
    this.preserved = new Set(format.preserved);
    this.constrained = format.constrained;
    const stops = [...format.stops, ...request.stop];
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
            logprobs: this.withLogprobs,
            now: clock.now,
          },
        )
      : new PlainAnswer(stops);
  }

  started(now: number): void {
    this.startedAt ??= now;
  }

  residentBytes(bytes: number): void {
    this.peakBytes = Math.max(this.peakBytes, bytes);
  }

  /** Takes a sampled token; returns the events that it completes. `more`: further tokens were sampled already. */
  accept(token: number, now: number, more: boolean): OutputEvent[] {
    const { llama } = this;
    this.completionTokens++;
    this.firstTokenAt ??= now;
    this.lastTokenAt = now;
    if (llama.isEnd(token)) {
      this.stopped = true;
      return [];
    }
    const logprob = this.withLogprobs ? this.logprob() : undefined;
    const events = this.answer.push(llama.piece(token, this.preserved.has(token)), more, logprob);
    this.stopped = this.answer.complete || (this.constrained && !more && llama.isStuck(this.sampler));
    return events;
  }

  /** Ends the answer; returns the events that were held back. `reason`: why it ends, as far as is known by now. */
  end(reason: FinishReason): OutputEvent[] {
    return this.answer.end(reason === "stop");
  }

  finish(reason: FinishReason, cachedTokens: number, now: number): StepFinish {
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
      ...(ended === "length" && !this.isCancelled && this.completionTokens !== this.maxTokens && { contextFull: true }),
      usage,
    };
    return { key: this.key, event };
  }

  private logprob(): TokenLogprob {
    const entries = this.llama.logprobs(this.sampler).map(({ token, logprob }) => {
      const bytes = this.llama.piece(token, this.preserved.has(token));
      return { token: decoder.decode(bytes), logprob, bytes: [...bytes] };
    });
    const [chosen, ...top] = entries;
    if (!chosen) throw new Error("the sampler kept no log probabilities");
    return { ...chosen, top };
  }
}

const decoder = new TextDecoder();
