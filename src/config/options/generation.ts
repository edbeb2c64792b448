// Options with defaults for requests that do not specify a setting.

import { SvcError } from "../../domain/errors.ts";
import type { JsonSchema, TemplateKwargs } from "../../domain/generate.ts";
import { prepareSchema } from "../../json-schema/prepare.ts";
import { boolean, integer, json, list, number, path } from "../option-types.ts";
import { chatTemplateOf } from "../chat-templates.ts";
import { UsageError } from "../parse.ts";

export const generationOptions = {
  sampling: {
    temperature: number(0, 5, {
      aliases: ["t", "temp"],
      absent: "the model file's, else 0.8",
      example: 0.7,
      help: "Default sampling temperature; 0 is greedy.",
    }),
    topP: number(0, 1, { absent: "the model file's, else 0.95", example: 0.9, help: "Default top_p; 1 is off." }),
    topK: integer(0, 1_000_000, { absent: "the model file's, else 40", example: 20, help: "Default top_k; 0 is off." }),
    minP: number(0, 1, { absent: "the model file's, else 0.05", example: 0.1, help: "Default min_p; 0 is off." }),
    repetitionPenalty: number(0.01, 10, {
      aliases: ["repeat-penalty"],
      absent: "the model file's, else 1",
      example: 1.1,
      help: "Default repetition penalty over the last 64 tokens; 1 is off.",
    }),
    presencePenalty: number(-2, 2, { absent: "0", example: 0.5, help: "Default presence penalty." }),
    seed: integer(0, 4_294_967_295, { absent: "random for each request", example: 7, help: "Default seed." }),
  },
  maxTokens: integer(1, 16_777_216, {
    aliases: ["n", "predict", "n-predict"],
    absent: "the remaining context",
    example: 1024,
    help: "Default maximum of output tokens.",
  }),
  maxLogprobs: integer(0, 20, { default: 20, help: "Maximum top_logprobs of a request." }),
  stop: list({
    placeholder: "TEXT",
    example: ["</answer>"],
    help: "Stop sequences for every request, in addition to its own.",
  }),
  templateKwargs: json({
    name: "chat-template-kwargs",
    aliases: ["default-chat-template-kwargs"],
    example: { enable_thinking: false },
    to: usableKwargs,
    otherwise: (): TemplateKwargs => ({}),
    help: "JSON object of chat template variables; variables in a request take precedence.",
  }),
  think: boolean({ default: true, help: "Allow reasoning; --no-think disables it for all requests." }),
  reasoningBudget: integer(0, 2_147_483_647, {
    absent: "no limit",
    example: 1024,
    help: "Default reasoning budget in tokens; the model must answer when it is spent.",
  }),
  guidedJson: json({
    example: { type: "object" },
    to: usableSchema,
    help: "JSON schema that answers must follow, for chat, responses and messages requests that set no format.",
  }),
  constrain: boolean({
    name: "grammar-constraints",
    aliases: ["enable-grammar-constraints"],
    default: true,
    help: "Enforce schemas, forced tool calls and grammars while sampling; --no-grammar-constraints only states schemas and forced calls in the prompt, and refuses grammars, regular expressions and choices.",
  }),
  chatTemplate: path({
    aliases: ["chat-template-file"],
    orName: true,
    placeholder: "FILE|NAME|JINJA",
    example: "chatml",
    to: chatTemplateOf,
    otherwise: () => "",
    help: "Chat template that replaces the model's: a Jinja file, the Jinja text itself, or a name: chatml, llama2, llama3, mistral, gemma, phi3, phi4, zephyr, vicuna, alpaca.",
  }),
};

/** Checks the value that decides whether models reason: a text would be ignored. */
function usableKwargs(kwargs: TemplateKwargs): TemplateKwargs {
  if (typeof (kwargs["enable_thinking"] ?? false) === "boolean") return kwargs;
  throw new UsageError("enable_thinking of --chat-template-kwargs must be true or false.");
}

/** Checks the schema at start: with an invalid one, every request would fail. */
function usableSchema(schema: JsonSchema): JsonSchema {
  try {
    prepareSchema(schema, "--guided-json");
    return schema;
  } catch (error) {
    throw error instanceof SvcError ? new UsageError(error.message) : error;
  }
}
