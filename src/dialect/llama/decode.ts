// Decodes requests of llama.cpp's /completion and /infill into requests to the generation service.

import {
  LlamaCompletionRequest,
  LlamaInfillRequest,
  type LlamaCompletionRequest as Completion,
  type LlamaInfillRequest as Infill,
} from "../../contract/llama-completion.ts";
import { checker } from "../../contract/schema.ts";
import { fieldError, invalidValue } from "../../domain/errors.ts";
import { PLAIN, type Generation } from "../../domain/generate.ts";
import { tooLongToTokenize } from "../../domain/prompt-size.ts";
import { decodeRunning, type RunningReports } from "../fields/running-reports.ts";
import { decodeControls } from "../fields/controls.ts";
import { fieldNames } from "../fields/field-names.ts";
import { checkAlternatives, checkAnswers, decodeIdSlot, decodeMaxTokens, limitOf } from "../fields/limits.ts";
import type { GenerationSettings } from "../fields/settings.ts";
import { decodeStructure, STRUCTURE_UNSUPPORTED, structureNames } from "../fields/structured.ts";
import { LLAMA_SHIFT_UNSUPPORTED, LLAMA_UNSUPPORTED } from "../fields/peer-fields.ts";
import { refuseUnsupported } from "../fields/unsupported.ts";

/** A text, or a mix of texts and tokens; the texts have yet to be tokenized. */
export type RawPrompt = string | readonly (string | number)[];

export interface LlamaCall {
  readonly prompts: readonly [RawPrompt, ...RawPrompt[]];
  /** The request for each prompt, without the prompt. */
  readonly request: Generation;
  readonly stream: boolean;
  /** Number of answers to each prompt. */
  readonly made: number;
  /** Whether to compute the prompts without answering. */
  readonly promptAlone: boolean;
  readonly slot: number;
  readonly returnTokens: boolean;
  readonly running: RunningReports;
  readonly fields: readonly string[];
}

/** Most texts in all prompts that are lists. */
const MOST_TEXTS = 128;

const checkCompletion = checker(LlamaCompletionRequest);
const checkInfill = checker(LlamaInfillRequest);

/** Decodes a completion. Throws SvcError with a code of the 400 family, naming the field. */
export function decodeLlamaCompletion(raw: unknown, settings: GenerationSettings): LlamaCall {
  const body = checkCompletion(raw);
  const prompts = splitPrompts(body.prompt);
  checkTexts(prompts);
  return { ...common(body, prompts.length, settings), prompts };
}

/** Names of the infill route's fields for errors. */
const INFILL_FIELDS = { messages: "input_prefix", prompt: "input_prefix", suffix: "input_suffix" };

/** Decodes an infill request. Throws like `decodeLlamaCompletion`. */
export function decodeLlamaInfill(raw: unknown, settings: GenerationSettings): LlamaCall {
  const body = checkInfill(raw);
  const call = common(body, 1, settings);
  const files = (body.input_extra ?? []).map(({ filename, text }) => ({ filename: filename ?? "tmp", text }));
  const gap = { begun: body.prompt ?? "", files };
  const names = { ...call.request.fieldNames, ...INFILL_FIELDS };
  const request = { ...call.request, suffix: body.input_suffix, gap, fieldNames: names };
  return { ...call, prompts: [body.input_prefix], request };
}

function common(
  body: Omit<Completion, "prompt"> | Omit<Infill, "prompt">,
  prompts: number,
  settings: GenerationSettings,
): Omit<LlamaCall, "prompts"> {
  refuseUnsupported(body, settings.contextShift ? LLAMA_SHIFT_UNSUPPORTED : LLAMA_UNSUPPORTED);
  refuseUnsupported(body, STRUCTURE_UNSUPPORTED);
  const made = body.n_cmpl ?? body.n ?? 1;
  checkAnswers(prompts, made, "n_cmpl");
  checkAlternatives(body.n_probs ?? 0, settings.maxLogprobs, "n_probs");
  const [limit, limitParam] = limitOf(body, ["n_predict", "max_tokens"], settings.maxTokens);
  const structure = decodeStructure(body);
  const running = decodeRunning(body, false);
  return {
    request: {
      ...PLAIN,
      parseSpecial: true,
      ...(structure && { constraint: structure.constraint }),
      ...fieldNames({
        messages: "prompt",
        max_tokens: limitParam,
        top_logprobs: "n_probs",
        ...structureNames(structure?.param),
      }),
      ...decodeControls(body, LlamaCompletionRequest, settings, running),
      ...decodeMaxTokens(limit === 0 ? 1 : limit, limitParam),
      ...(body.n_keep && settings.contextShift && { keepTokens: body.n_keep }),
      ...(body.n_probs && { topLogprobs: body.n_probs }),
      // Needed by streams, too, to count tokens.
      returnTokens: true,
      choices: made,
    },
    stream: body.stream ?? false,
    made,
    promptAlone: limit === 0,
    slot: decodeIdSlot(body).slot ?? 0,
    returnTokens: body.return_tokens ?? false,
    running,
    fields: body.response_fields ?? [],
  };
}

function splitPrompts(prompt: Completion["prompt"]): readonly [RawPrompt, ...RawPrompt[]] {
  if (!Array.isArray(prompt)) return [onePrompt(prompt, "prompt")];
  // With numbers in the list, it is a single prompt of texts and tokens.
  if (prompt.some((part) => typeof part === "number")) {
    const wrong = prompt.findIndex((part) => typeof part === "object");
    if (wrong < 0) return [prompt as (string | number)[]];
    throw fieldError("invalid_type", `prompt.${wrong}`, "must be a string or a token id, as the others");
  }
  return prompt.map((part, at) => onePrompt(part as string, `prompt.${at}`)) as [RawPrompt, ...RawPrompt[]];
}

/** Limits the texts: each is a tokenizer job that precedes the engine's work on the prompt. */
function checkTexts(prompts: readonly RawPrompt[]): void {
  const texts = prompts.flatMap((prompt) => (typeof prompt === "string" ? [] : prompt.filter(isText)));
  if (texts.length > MOST_TEXTS) {
    throw invalidValue("prompt", `have at most ${MOST_TEXTS} texts in prompts that are lists`, texts.length);
  }
  const tooLong = tooLongToTokenize(texts.reduce((sum, { length }) => sum + length, 0));
  if (tooLong) throw tooLong;
}

const isText = (part: string | number): part is string => typeof part === "string";

type PromptPart = RawPrompt | { readonly prompt_string: string; readonly multimodal_data?: readonly string[] | null };

function onePrompt(part: PromptPart, path: string): RawPrompt {
  if (typeof part === "string" || !("prompt_string" in part)) return part;
  if (!part.multimodal_data?.length) return part.prompt_string;
  throw fieldError("unsupported_parameter", `${path}.multimodal_data`, "is not supported: send media in messages");
}
