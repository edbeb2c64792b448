// Token counts and times of a generation. All of them are measured; none is estimated from text.

/** `content_filter`: an upstream cut the answer because of its content. */
export const FINISH_REASONS = ["stop", "length", "content_filter", "tool_calls", "cancelled"] as const;
export type FinishReason = (typeof FINISH_REASONS)[number];

export interface Usage {
  readonly promptTokens: number;
  /** Prompt tokens taken from the KV cache instead of being computed. */
  readonly cachedTokens: number;
  /** Sampled tokens, including the end-of-turn token. */
  readonly completionTokens: number;
  /** Completion tokens that are reasoning, including its markup. */
  readonly reasoningTokens: number;
  /** Milliseconds from acceptance to the start of prefill. */
  readonly queueMs: number;
  /** Milliseconds from the start of prefill to the first sampled token. */
  readonly promptMs: number;
  /** Milliseconds from the first sampled token to the last. */
  readonly completionMs: number;
  /** Peak resident memory of the engine process while this request ran; 0: unknown. */
  readonly peakMemoryBytes: number;
}

/** Returns the usage of a generation that was never computed. */
export const noUsage = (promptTokens = 0): Usage => ({
  promptTokens,
  cachedTokens: 0,
  completionTokens: 0,
  reasoningTokens: 0,
  queueMs: 0,
  promptMs: 0,
  completionMs: 0,
  peakMemoryBytes: 0,
});

/** Adds another answer to the same prompt, which was computed only once, for the first answer. */
const addUsage = (first: Usage, other: Usage): Usage => ({
  ...first,
  completionTokens: first.completionTokens + other.completionTokens,
  reasoningTokens: first.reasoningTokens + other.reasoningTokens,
  completionMs: Math.max(first.completionMs, other.completionMs),
  peakMemoryBytes: Math.max(first.peakMemoryBytes, other.peakMemoryBytes),
});

/** Adds the usage of two prompts of one request, with their answers. */
export const joinUsage = (one: Usage, other: Usage): Usage => ({
  ...addUsage(one, other),
  promptTokens: one.promptTokens + other.promptTokens,
  cachedTokens: one.cachedTokens + other.cachedTokens,
  queueMs: Math.max(one.queueMs, other.queueMs),
  promptMs: Math.max(one.promptMs, other.promptMs),
});

/**
 * Returns the usage of one request with one or several prompts and `made` answers to each, in the order of the prompts.
 * Answers that did not end are ignored.
 */
export function usageOf(answers: readonly ({ readonly usage: Usage } | undefined)[], made: number): Usage {
  const prompts = Array.from({ length: Math.ceil(answers.length / made) }, (_, prompt) => {
    const ended = answers.slice(prompt * made, (prompt + 1) * made).flatMap((answer) => answer?.usage ?? []);
    const [first = noUsage(), ...others] = ended;
    return others.reduce(addUsage, first);
  });
  return prompts.reduce(joinUsage, noUsage());
}

/** A token of a prompt; `logprob` is null for the first token. */
export type PromptLogprob = Omit<TokenLogprob, "logprob"> & { readonly logprob: number | null };

export interface TokenLogprob {
  /** Text of the token; bytes that are invalid UTF-8 on their own become U+FFFD, `bytes` has them unchanged. */
  readonly token: string;
  /** Id of the token, if the model's vocabulary is available. */
  readonly id?: number;
  readonly logprob: number;
  readonly bytes: readonly number[];
  readonly top: readonly Omit<TokenLogprob, "top">[];
}
