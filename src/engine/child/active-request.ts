// One request inside the engine process, from acceptance to its last token: sampler, text pipeline and clocks.

import type { Llama, SamplerId } from "../../../ffi/llama/api.ts";
import type { GenerateRequest } from "../../domain/generate.ts";
import type { FinishReason, TokenLogprob, Usage } from "../../domain/usage.ts";
import { TextPipeline } from "../../text/pipeline.ts";
import type { RequestKey, StepFinish, StepText } from "../protocol.ts";

export class ActiveRequest {
  private readonly pipeline: TextPipeline;
  private completionTokens = 0;
  private startedAt: number | undefined;
  private firstTokenAt: number | undefined;
  private lastTokenAt: number | undefined;
  private peakBytes = 0;
  /** Visible text ended at a stop sequence or the model ended its turn. */
  stopped = false;

  constructor(
    readonly key: RequestKey,
    readonly sampler: SamplerId,
    private readonly request: GenerateRequest,
    private readonly promptTokens: number,
    stops: readonly string[],
    private readonly acceptedAt: number,
  ) {
    this.pipeline = new TextPipeline(stops);
  }

  started(now: number): void {
    this.startedAt ??= now;
  }

  residentBytes(bytes: number): void {
    this.peakBytes = Math.max(this.peakBytes, bytes);
  }

  /** Takes a sampled token; returns the text that became visible by it, if any. */
  accept(token: number, llama: Llama, now: number): StepText | undefined {
    this.completionTokens++;
    this.firstTokenAt ??= now;
    this.lastTokenAt = now;
    if (llama.isEnd(token)) {
      this.stopped = true;
      return undefined;
    }
    const wantsLogprobs = this.request.topLogprobs !== undefined;
    const released = this.pipeline.push(llama.piece(token), wantsLogprobs ? this.logprob(llama) : undefined);
    this.stopped = released.stopped;
    return this.stepText(released.text, released.logprobs);
  }

  /** Ends the text; returns what was held back, if any. */
  end(): StepText | undefined {
    const rest = this.pipeline.end();
    return this.stepText(rest.text, rest.logprobs);
  }

  finish(reason: FinishReason, cachedTokens: number, now: number): StepFinish {
    const started = this.startedAt ?? now;
    const first = this.firstTokenAt ?? now;
    const usage: Usage = {
      promptTokens: this.promptTokens,
      cachedTokens,
      completionTokens: this.completionTokens,
      queueMs: started - this.acceptedAt,
      promptMs: first - started,
      completionMs: (this.lastTokenAt ?? first) - first,
      peakMemoryBytes: this.peakBytes,
    };
    return { key: this.key, reason, usage };
  }

  private stepText(text: string, logprobs: readonly TokenLogprob[]): StepText | undefined {
    if (text === "" && logprobs.length === 0) return undefined;
    return this.request.topLogprobs === undefined ? { key: this.key, text } : { key: this.key, text, logprobs };
  }

  private logprob(llama: Llama): TokenLogprob {
    const entries = llama.logprobs(this.sampler).map(({ token, logprob }) => {
      const bytes = llama.piece(token);
      return { token: decoder.decode(bytes), logprob, bytes: [...bytes] };
    });
    const [chosen, ...top] = entries;
    if (!chosen) throw new Error("the sampler kept no log probabilities");
    return { ...chosen, top };
  }
}

const decoder = new TextDecoder();
