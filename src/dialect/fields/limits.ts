// Decodes the model and the limits of an answer, which are the same fields in several dialects.

import { MOST_ANSWERS } from "../../contract/completions.ts";
import { fieldError, invalidValue, SvcError } from "../../domain/errors.ts";

const MOST_TOKENS = 2 ** 31 - 1;

/** Returns the model that a request names; an empty name counts as absent. */
export const decodeModel = (model: string | null | undefined): { model?: string } => (model ? { model } : {});

/**
 * Returns the output limit within the engine's range. It is absent for -1 or without a limit: then the remaining
 * context is the limit. Throws SvcError `invalid_value` about 0.
 */
export function decodeMaxTokens(limit: number | null | undefined, param = "max_tokens"): { maxTokens?: number } {
  if (limit == null || limit === -1) return {};
  if (limit > 0) return { maxTokens: Math.min(limit, MOST_TOKENS) };
  throw invalidValue(param, "be at least 1, or -1 for no limit", limit);
}

/**
 * Returns the output limit under the first of these names that the request has, else the launch option's, and its name
 * for errors.
 */
export function limitOf<Name extends string>(
  fields: { readonly [Key in Name]?: number | null | undefined },
  names: readonly [Name, ...Name[]],
  launch: number | undefined,
): [limit: number | undefined, param: Name] {
  const param = names.find((name) => fields[name] != null);
  return param === undefined ? [launch, names[0]] : [fields[param] ?? undefined, param];
}

/** Returns the slot that a request names; -1, which llama.cpp's clients send, means none. */
export const decodeIdSlot = ({ id_slot: slot }: { readonly id_slot?: number | null }): { slot?: number } =>
  slot != null && slot >= 0 ? { slot } : {};

/** Returns the stop sequences without duplicates: launch options first, then the request's. Empty texts are ignored. */
export function decodeStop(requested: string | readonly string[], launch: readonly string[]): readonly string[] {
  const stops = [...launch, ...(typeof requested === "string" ? [requested] : requested)];
  return [...new Set(stops.filter((stop) => stop !== ""))];
}

/** Throws SvcError `invalid_value` when a request wants more alternatives per token than the server allows. */
export function checkAlternatives(alternatives: number, most: number, param: string): void {
  if (alternatives <= most) return;
  throw invalidValue(param, `be at most ${most}, the limit set by --max-logprobs`, alternatives);
}

interface LogprobsFields {
  readonly logprobs?: boolean | null;
  readonly top_logprobs?: number | null;
}

/** Returns the alternatives per token, undefined without log probabilities. Throws SvcError `invalid_value`. */
export function decodeLogprobs({ logprobs, top_logprobs }: LogprobsFields, most: number): number | undefined {
  const alternatives = top_logprobs ?? 0;
  const param = "top_logprobs";
  checkAlternatives(alternatives, most, param);
  if (logprobs === true) return alternatives;
  if (alternatives > 0) throw fieldError("invalid_value", param, "needs 'logprobs' to be true");
  return undefined;
}

/** Throws SvcError `invalid_value` when too many answers are wanted. `each`: answers to a prompt, by field `param`. */
export function checkAnswers(prompts: number, each: number, param: string): void {
  const answers = prompts * each;
  if (answers <= MOST_ANSWERS) return;
  const message = `'${param}': at most ${MOST_ANSWERS} answers per request; got ${each} for each of ${prompts} prompts (${answers}).`;
  throw new SvcError("invalid_value", message, { param });
}
