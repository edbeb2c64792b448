// The model and the bounds of an answer: fields that are the same in several dialects.

import { MOST_ANSWERS } from "../../contract/completions.ts";
import { fieldError, invalidValue, SvcError } from "../../domain/errors.ts";

const MOST_TOKENS = 2 ** 31 - 1;

/** The model that a request names; an empty name is none. */
export const decodeModel = (asked: string | null | undefined): { model?: string } => (asked ? { model: asked } : {});

/**
 * An output limit as the engine can count it; absent where the remaining context is the limit: for -1, and where there is
 * none. Throws SvcError `invalid_value` about 0.
 */
export function decodeMaxTokens(asked: number | null | undefined, param = "max_tokens"): { maxTokens?: number } {
  if (asked == null || asked === -1) return {};
  if (asked > 0) return { maxTokens: Math.min(asked, MOST_TOKENS) };
  throw invalidValue(param, "be at least 1, or -1 for no limit", asked);
}

interface AskedLimits {
  readonly max_tokens?: number | null | undefined;
  readonly max_completion_tokens?: number | null | undefined;
  readonly n_predict?: number | null | undefined;
}

/** The output limit of a request, by whichever of its names, else the launch's; what the errors about it call it. */
export function limitOf(asked: AskedLimits, launch: number | undefined): [limit: number | undefined, param: string] {
  const param = (["max_tokens", "max_completion_tokens", "n_predict"] as const).find((name) => asked[name] != null);
  return param === undefined ? [launch, "max_tokens"] : [asked[param] ?? undefined, param];
}

/** The slot that a request names; -1, as llama.cpp's clients send it, is none. */
export const decodeIdSlot = ({ id_slot: slot }: { readonly id_slot?: number | null }): { slot?: number } =>
  slot != null && slot >= 0 ? { slot } : {};

/** Stop sequences: launch values first, then the request's, each once; an empty text is none. */
export function decodeStop(requested: string | readonly string[], launch: readonly string[]): readonly string[] {
  const stops = [...launch, ...(typeof requested === "string" ? [requested] : requested)];
  return [...new Set(stops.filter((stop) => stop !== ""))];
}

/** Throws SvcError `invalid_value` when more alternatives a token are requested than the server gives. */
export function checkAlternatives(alternatives: number, most: number, param: string): void {
  if (alternatives <= most) return;
  throw invalidValue(param, `be at most ${most}, the limit set by --max-logprobs`, alternatives);
}

interface AskedLogprobs {
  readonly logprobs?: boolean | null;
  readonly top_logprobs?: number | null;
}

/** Alternatives a token, or undefined when no log probabilities are requested. Throws SvcError `invalid_value`. */
export function decodeLogprobs({ logprobs, top_logprobs }: AskedLogprobs, most: number): number | undefined {
  const alternatives = top_logprobs ?? 0;
  const param = "top_logprobs";
  checkAlternatives(alternatives, most, param);
  if (logprobs === true) return alternatives;
  if (alternatives > 0) throw fieldError("invalid_value", param, "needs 'logprobs' to be true");
  return undefined;
}

/** `each`: answers to each prompt, from the field `param`. Throws SvcError `invalid_value` about more than may be. */
export function checkAnswers(prompts: number, each: number, param: string): void {
  const answers = prompts * each;
  if (answers <= MOST_ANSWERS) return;
  const message = `'${param}': a request may have at most ${MOST_ANSWERS} answers made; got ${each} to each of ${prompts} prompts, which is ${answers}.`;
  throw new SvcError("invalid_value", message, { param });
}
