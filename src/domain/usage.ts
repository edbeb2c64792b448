// Counts and clocks of one generation. Everything here is measured; nothing is estimated from text.

export type FinishReason = "stop" | "length" | "tool_calls" | "cancelled";

export interface Usage {
  readonly promptTokens: number;
  /** Prompt tokens that were served from the KV cache instead of being computed. */
  readonly cachedTokens: number;
  /** Sampled tokens, the end-of-turn token included. */
  readonly completionTokens: number;
  /** Those of them that are reasoning, its markup included. */
  readonly reasoningTokens: number;
  /** Milliseconds from acceptance to the start of prefill. */
  readonly queueMs: number;
  /** Milliseconds from the start of prefill to the first sampled token. */
  readonly promptMs: number;
  /** Milliseconds from the first sampled token to the last. */
  readonly completionMs: number;
  /** Highest resident memory of the engine process seen while this request ran; 0: not known. */
  readonly peakMemoryBytes: number;
}

/** The usage of a generation that was never computed. */
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

/** The usage of several answers to one prompt, which was computed once, for the first of them. */
const addUsage = (first: Usage, other: Usage): Usage => ({
  ...first,
  completionTokens: first.completionTokens + other.completionTokens,
  reasoningTokens: first.reasoningTokens + other.reasoningTokens,
  completionMs: Math.max(first.completionMs, other.completionMs),
  peakMemoryBytes: Math.max(first.peakMemoryBytes, other.peakMemoryBytes),
});

/** The usage of two prompts and their answers that were asked for together. */
export const joinUsage = (one: Usage, other: Usage): Usage => ({
  ...addUsage(one, other),
  promptTokens: one.promptTokens + other.promptTokens,
  cachedTokens: one.cachedTokens + other.cachedTokens,
  queueMs: Math.max(one.queueMs, other.queueMs),
  promptMs: Math.max(one.promptMs, other.promptMs),
});

/**
 * The usage of one or several prompts that were asked for together, with `made` answers each: those of the first prompt come
 * first. What did not end is left out.
 */
export function usageOf(answers: readonly ({ readonly usage: Usage } | undefined)[], made: number): Usage {
  const prompts = Array.from({ length: Math.ceil(answers.length / made) }, (_, prompt) => {
    const ended = answers.slice(prompt * made, (prompt + 1) * made).flatMap((answer) => answer?.usage ?? []);
    const [first = noUsage(), ...others] = ended;
    return others.reduce(addUsage, first);
  });
  return prompts.reduce(joinUsage, noUsage());
}

/** A token of a prompt; the first has no probability. */
export type PromptLogprob = Omit<TokenLogprob, "logprob"> & { readonly logprob: number | null };

export interface TokenLogprob {
  /** The token's text; bytes that are not valid UTF-8 alone show as U+FFFD, `bytes` has them exactly. */
  readonly token: string;
  /** Its id, where the model's vocabulary is at hand. */
  readonly id?: number;
  readonly logprob: number;
  readonly bytes: readonly number[];
  readonly top: readonly Omit<TokenLogprob, "top">[];
}
