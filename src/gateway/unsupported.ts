// Refuses requests that use settings which the model's server has no field for, so that nothing is dropped silently.

import { invalidValue, SvcError } from "../domain/errors.ts";
import type { GenerateRequest, Sampling } from "../domain/generate.ts";
import type { ServerKind, ServerTraits } from "./server-kind.ts";

/** Returns a refusal that names the field of the request. */
export function cannotCarry(param: string, kind: ServerKind, what = `'${param}'`): SvcError {
  const server = kind === "openai" ? "the server of this model" : `a server of the kind ${kind}, which has this model,`;
  return new SvcError("unsupported_parameter", `${what} cannot be forwarded: ${server} has no equivalent.`, {
    param,
  });
}

/** Values that switch a setting off; a server without the setting behaves the same. */
const OFF: Partial<Record<keyof Sampling, unknown>> = {
  topK: 0,
  minP: 0,
  typicalP: 1,
  topNSigma: -1,
  xtcProbability: 0,
  dynatempRange: 0,
  repetitionPenalty: 1,
  presencePenalty: 0,
  frequencyPenalty: 0,
  dryMultiplier: 0,
  mirostat: 0,
  ignoreEos: false,
  minTokens: 0,
};

/** Settings that have no effect while all these others are off, which are some of `OFF`. */
const SWITCHES: Partial<Record<keyof Sampling, readonly (keyof Sampling)[]>> = {
  xtcThreshold: ["xtcProbability"],
  dynatempExponent: ["dynatempRange"],
  repetitionWindow: ["repetitionPenalty", "presencePenalty", "frequencyPenalty"],
  dryBase: ["dryMultiplier"],
  dryAllowedLength: ["dryMultiplier"],
  dryPenaltyLastN: ["dryMultiplier"],
  drySequenceBreakers: ["dryMultiplier"],
  mirostatTau: ["mirostat"],
  mirostatEta: ["mirostat"],
};

/** Returns whether a setting of a request has no effect: clients send all settings that they know. */
function isIdle(name: keyof Sampling, sampling: Sampling): boolean {
  const isOff = (one: keyof Sampling) => sampling[one] === OFF[one];
  if (name === "logitBias") return (sampling.logitBias ?? []).length === 0;
  return isOff(name) || SWITCHES[name]?.every(isOff) === true;
}

/** Returns the sampling settings of a request under the server's names. Throws SvcError `unsupported_parameter`. */
export function carrySampling(sampling: Sampling, kind: ServerKind, traits: ServerTraits): Record<string, unknown> {
  const fields: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(sampling) as [keyof Sampling, unknown][]) {
    const known = traits.sampling[name];
    if (known !== undefined) fields[known] = name === "logitBias" ? biasOf(sampling.logitBias ?? []) : value;
    else if (!isIdle(name, sampling)) throw cannotCarry(wireName(name), kind);
  }
  return fields;
}

/** Raises biases to at least -100, the end of the OpenAI API's range, which already bans a token. */
const biasOf = (bias: NonNullable<Sampling["logitBias"]>) =>
  Object.fromEntries(bias.map(([token, value]) => [String(token), Math.max(value, -100)]));

const wireName = (name: string): string =>
  name === "repetitionWindow" ? "repeat_last_n" : name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Most choices passed on as a grammar: servers compare all of them at each token, which delays all requests. */
const MOST_CHOICES = 1000;

/** Refuses settings that the server cannot apply as requested. Throws SvcError `unsupported_parameter`. */
export function checkCarried(request: GenerateRequest, kind: ServerKind, traits: ServerTraits): void {
  // Adapter numbers refer to adapters of this svc.
  if (request.adapters && request.adapters.length > 0) throw cannotCarry("lora", kind);
  if (request.constraint?.grammar !== undefined && !traits.grammar) throw cannotCarry("grammar", kind);
  const choices = request.constraint?.choice?.length ?? 0;
  if (choices > MOST_CHOICES && (traits.grammar === "gbnf" || traits.grammar === "ebnf")) {
    throw invalidValue("grammar", `have at most ${MOST_CHOICES} texts for the server of this model`, choices);
  }
  if (request.prompt !== undefined && request.constraint?.schema && kind !== "ollama" && !traits.rawSchema) {
    throw cannotCarry("response_format", kind);
  }
  if (request.asksForKwargs && !traits.templateKwargs) throw cannotCarry("chat_template_kwargs", kind);
  if (request.toolChoice === "required" && !traits.toolChoices.includes("required")) {
    throw cannotCarry("tool_choice", kind);
  }
  if (request.continueLast === true && !traits.continueFields) throw cannotCarry("messages", kind);
  if (request.generationPrompt === false && !traits.generationPrompt) throw cannotCarry("add_generation_prompt", kind);
  if (request.maxPredictMs !== undefined && !traits.llamaFields) throw cannotCarry("t_max_predict_ms", kind);
  if (request.keepTokens !== undefined && !traits.keepsTokens) throw cannotCarry("n_keep", kind);
  if (request.budgetField !== undefined && !traits.reasoningBudget) throw cannotCarry(request.budgetField, kind);
  if (request.fresh && !traits.llamaFields) throw cannotCarry("cache_prompt", kind);
  if (request.slot !== undefined && !traits.llamaFields) throw cannotCarry("id_slot", kind);
  if (request.counted === "timings" && traits.reports !== "timings") throw cannotCarry("timings_per_token", kind);
  if (request.counted && !traits.reports) throw cannotCarry("stream_options.continuous_usage_stats", kind);
  if (request.returnProgress && traits.reports !== "timings") throw cannotCarry("return_progress", kind);
  if (request.promptLogprobs) throw cannotCarry("echo", kind, "'echo' with 'logprobs'");
  if (request.gap && (request.gap.begun !== "" || request.gap.files.length > 0)) throw cannotCarry("input_extra", kind);
  if (request.suffix !== undefined && !traits.suffix) throw cannotCarry("suffix", kind);
}

/** Returns the request's fields that are the server's own, renamed. Throws SvcError `unsupported_parameter`. */
export function carryForeign(
  { foreign = {} }: Pick<GenerateRequest, "foreign">,
  kind: ServerKind,
  names: ServerTraits["foreign"] = {},
) {
  return Object.fromEntries(
    Object.entries(foreign).map(([field, value]) => {
      const name = names[field];
      if (name === undefined) throw cannotCarry(field, kind);
      return [name, value];
    }),
  );
}
