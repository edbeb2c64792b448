// Turns a request into a prompt job of the native library, in the shapes of OpenAI's chat API, for which the templates
// that llama.cpp renders are written.

import type { ChatPrompt, PromptRequest, SamplerConfig } from "../../../../ffi/llama/api.ts";
import { fieldError, type SvcError } from "../../../domain/errors.ts";
import type { ChatMessage, GenerateRequest, Tool } from "../../../domain/generate.ts";

/**
 * Returns why a request cannot be answered without grammars: the prompt cannot state what it asks for. Nothing is added
 * to raw prompts, and to others only schemas.
 */
export function withoutGrammars({ constraint, prompt }: GenerateRequest): SvcError | undefined {
  const isRawWithSchema = constraint?.schema !== undefined && prompt !== undefined;
  if (constraint?.grammar === undefined && !isRawWithSchema) return undefined;
  const param = isRawWithSchema ? "response_format" : "grammar";
  const sentence = "is not supported on this server: it runs with --no-grammar-constraints";
  return fieldError("unsupported_parameter", param, sentence);
}

/** `constrain`: whether grammars are used at all. `marker`: placeholder text of a medium. */
export function promptOf(
  request: GenerateRequest,
  sampler: SamplerConfig,
  constrain: boolean,
  marker: string,
): PromptRequest {
  const { prompt, suffix } = request;
  if (prompt === undefined) return chatPrompt(request, sampler, constrain, marker);
  const { schema, grammar } = request.constraint ?? {};
  const answer = {
    ...(schema && { schema }),
    ...(grammar !== undefined && { grammar }),
    ...(request.promptLogprobs && { score: true as const }),
    sampler,
  };
  if (typeof prompt !== "string") return { tokens: Array.from(prompt), ...answer };
  const { gap, parseSpecial = false } = request;
  const around = suffix !== undefined && { suffix, ...(gap && { begun: gap.begun, files: gap.files }) };
  return { text: prompt, ...around, parseSpecial, addSpecial: true, ...answer };
}

function chatPrompt(request: GenerateRequest, sampler: SamplerConfig, constrain: boolean, marker: string): ChatPrompt {
  const { schema, grammar } = request.constraint ?? {};
  return {
    messages: request.messages.map((message) => wireMessage(message, marker)),
    tools: request.tools.map(wireTool),
    enforced: request.tools.map(({ enforced }) => enforced),
    described: request.tools.filter(({ described }) => described).length,
    toolChoice: request.toolChoice,
    parallelToolCalls: request.parallelToolCalls,
    ...(schema !== undefined && { schema }),
    ...(grammar !== undefined && { grammar }),
    constrain,
    kwargs: request.templateKwargs,
    ...(request.thinking !== undefined && { enableThinking: request.thinking }),
    continueLast: Boolean(request.continueLast),
    generationPrompt: request.generationPrompt ?? true,
    media: (request.media?.length ?? 0) > 0,
    sampler,
  };
}

function wireMessage(message: ChatMessage, marker: string): object {
  const { role, content, name, reasoning, toolCalls, toolCallId } = message;
  const calls = toolCalls?.map((call) => ({
    id: call.id,
    type: "function",
    function: { name: call.name, arguments: call.arguments },
  }));
  return {
    role,
    content: typeof content === "string" ? content : content.map((part) => wirePart(part, marker)),
    ...(name !== undefined && { name }),
    ...(reasoning !== undefined && { reasoning_content: reasoning }),
    ...(calls && { tool_calls: calls }),
    ...(toolCallId !== undefined && { tool_call_id: toolCallId }),
  };
}

type Part = Exclude<ChatMessage["content"], string>[number];

const wirePart = (part: Part, marker: string): object =>
  part.type === "text" ? { type: "text", text: part.text } : { type: "media_marker", text: marker };

const wireTool = ({ name, description, parameters }: Tool): object => ({
  type: "function",
  function: { name, description, parameters },
});
