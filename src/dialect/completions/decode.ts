// Decodes a completion request into requests to the generation service, one for each prompt.

import { CompletionRequest } from "../../contract/completions.ts";
import { checker } from "../../contract/schema.ts";
import { fieldError, invalidValue, SvcError } from "../../domain/errors.ts";
import { PLAIN, type Generation, type Generations } from "../../domain/generate.ts";
import { hintsOf } from "../../domain/hints.ts";
import type { ChatCall } from "../chat/decode.ts";
import { decodeControls } from "../fields/controls.ts";
import { fieldNames } from "../fields/field-names.ts";
import { checkAlternatives, checkAnswers, decodeMaxTokens, limitOf } from "../fields/limits.ts";
import { COMPLETION_FOREIGN, COMPLETION_PEER_UNSUPPORTED, decodeForeign } from "../fields/peer-fields.ts";
import { decodeRunning } from "../fields/running-reports.ts";
import type { GenerationSettings } from "../fields/settings.ts";
import { decodeStructure, STRUCTURE_UNSUPPORTED, structureNames } from "../fields/structured.ts";
import { refuseUnsupported } from "../fields/unsupported.ts";

export interface CompletionCall extends Omit<ChatCall, "request"> {
  readonly requests: Generations;
  /** Answers returned for each prompt: the likeliest of those that are generated (`made`). */
  readonly given: number;
  readonly made: number;
  /** Text before the answers to each prompt: the prompt's own with `echo`, otherwise empty. */
  readonly echoes: readonly string[];
  readonly withLogprobs: boolean;
  /** Whether only the echo is wanted. */
  readonly echoAlone: boolean;
}

const check = checker(CompletionRequest);
const UNSUPPORTED = { ...STRUCTURE_UNSUPPORTED, ...COMPLETION_PEER_UNSUPPORTED };

/** Decodes a request body. Throws SvcError with a code of the 400 family, naming the field. */
export function decodeCompletion(raw: unknown, settings: GenerationSettings): CompletionCall {
  const body = check(raw);
  refuseUnsupported(body, UNSUPPORTED);
  const [limit, limitParam] = limitOf(body, ["max_tokens", "n_predict"], settings.maxTokens);
  const [alternatives, alternativesParam] = alternativesOf(body);
  const prompts = splitPrompts(body.prompt);
  const given = body.n ?? 1;
  const made = Math.max(body.best_of ?? given, given);
  const withLogprobs = alternatives !== undefined;
  refuse(body, prompts, given, withLogprobs);
  const echoAlone = limit === 0;
  if (echoAlone && body.echo !== true) throw invalidValue(limitParam, "be at least 1 without echo", limit);
  checkAnswers(prompts.length, made, made > given ? "best_of" : "n");
  if (withLogprobs) checkAlternatives(alternatives, settings.maxLogprobs, alternativesParam);
  // Choosing the likeliest candidates requires the log probabilities of each.
  const topLogprobs = alternatives ?? (made > given ? 0 : undefined);
  const { constraint, param: structureParam } = decodeStructure(body) ?? {};
  // Some clients always send a suffix, which may be empty.
  const suffix = body.suffix || undefined;
  const includeUsage = body.stream_options?.include_usage ?? false;
  const running = decodeRunning(body, includeUsage);
  const isList = Array.isArray(body.prompt) && typeof body.prompt[0] !== "number";
  // Decoded once: all prompts share it, however much there is.
  const common: Generation = {
    ...PLAIN,
    ...(suffix !== undefined && { suffix }),
    ...(constraint && { constraint }),
    ...fieldNames({
      messages: "prompt",
      max_tokens: limitParam,
      top_logprobs: alternativesParam,
      ...structureNames(structureParam),
    }),
    ...decodeControls(body, CompletionRequest, settings, running),
    ...decodeForeign(body, COMPLETION_FOREIGN),
    ...hintsOf(body, ["user"]),
    ...decodeMaxTokens(echoAlone ? 1 : limit, limitParam),
    ...(topLogprobs !== undefined && { topLogprobs }),
    ...(body.echo === true && withLogprobs && { promptLogprobs: true as const }),
    choices: made,
  };
  const requests = prompts.map((prompt, at): Generation => ({
    ...common,
    prompt,
    ...(typeof prompt === "object" && { promptField: isList ? `prompt.${at}` : "prompt" }),
  }));
  return {
    requests: requests as [Generation, ...Generation[]],
    stream: body.stream ?? false,
    includeUsage,
    running,
    given,
    made,
    echoes: prompts.map((prompt) => (body.echo === true && typeof prompt === "string" ? prompt : "")),
    withLogprobs,
    echoAlone,
  };
}

/** Returns the alternatives per token and the name of their field; undefined: no log probabilities are wanted. */
const alternativesOf = ({ logprobs, n_probs }: CompletionRequest): [alternatives: number | undefined, param: string] =>
  logprobs == null ? [n_probs || undefined, "n_probs"] : [logprobs, "logprobs"];

type Prompt = string | readonly number[];

function splitPrompts(prompt: CompletionRequest["prompt"]): readonly [Prompt, ...Prompt[]] {
  if (typeof prompt === "string") return [prompt];
  const [first] = prompt;
  if (typeof first === "number") return [prompt as number[]];
  return prompt as [Prompt, ...Prompt[]];
}

/** Throws SvcError about combinations of fields that have no meaning or are not supported. */
function refuse(body: CompletionRequest, prompts: readonly Prompt[], given: number, withLogprobs: boolean): void {
  const invalid = (param: string, rule: string) => fieldError("invalid_value", param, rule);
  const unsupported = (param: string, rule: string) =>
    new SvcError("unsupported_parameter", `'${param}': ${rule}.`, { param });
  const isText = prompts.every((prompt) => typeof prompt === "string");
  if (body.best_of != null && body.best_of < given) throw invalid("best_of", `must be at least n, which is ${given}`);
  if (body.stream === true && (body.best_of ?? given) > given) {
    throw unsupported("best_of", "must equal n in a stream");
  }
  if (body.echo === true && withLogprobs && body.stream === true) {
    throw unsupported("echo", "cannot be streamed with log probabilities");
  }
  if (body.echo === true && withLogprobs && body.suffix) {
    throw unsupported("echo", "cannot be combined with log probabilities and a suffix");
  }
  if (body.echo === true && !withLogprobs && !isText)
    throw unsupported("echo", "a prompt of token ids cannot be echoed without log probabilities");
  if (body.suffix && !isText) throw invalid("suffix", "needs a prompt of text");
}
