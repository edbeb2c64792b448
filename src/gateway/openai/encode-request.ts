// What a generation asks → the body of a chat completion, or of a completion of raw text, as the server takes it.

import type { ChatMessage, ContentPart, GenerateRequest, Tool } from "../../domain/generate.ts";
import { SvcError } from "../../domain/errors.ts";
import { traitsOf, type ServerKind, type ServerTraits } from "../server-kind.ts";
import { carrySampling, checkCarried } from "../unsupported.ts";

export interface UpstreamCall {
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Throws SvcError about what the server cannot be told. `model`: its own name for the model. */
export function encodeOpenAi(request: GenerateRequest, model: string, kind: ServerKind): UpstreamCall {
  const traits = traitsOf(kind);
  checkCarried(request, kind, traits);
  const common = {
    model,
    stream: true,
    stream_options: { include_usage: true },
    ...carrySampling(request.sampling, kind, traits),
    ...(request.maxTokens !== undefined && { max_tokens: request.maxTokens }),
    ...(request.stop.length > 0 && { stop: request.stop }),
    ...(request.constraint?.grammar !== undefined && { grammar: request.constraint.grammar }),
  };
  if (request.prompt !== undefined) {
    const logprobs = request.topLogprobs !== undefined && { logprobs: request.topLogprobs };
    const suffix = request.suffix !== undefined && { suffix: request.suffix };
    return { path: "/v1/completions", body: { ...common, prompt: request.prompt, ...suffix, ...logprobs } };
  }
  return {
    path: "/v1/chat/completions",
    body: {
      ...common,
      messages: request.messages.map(encodeMessage),
      ...(request.continueLast && traits.continueFields),
      ...(request.generationPrompt === false && { add_generation_prompt: false }),
      ...encodeTools(request),
      ...encodeFormat(request),
      ...encodeThinking(request, traits),
      ...encodeLogprobs(request),
    },
  };
}

function encodeMessage(message: ChatMessage) {
  const { role, content, name, reasoning, toolCalls, toolCallId } = message;
  return {
    role,
    content: toolCalls && content === "" ? null : encodeContent(content),
    // The name of a tool's answer is ours, not the client's; some servers take no names on tool messages.
    ...(name !== undefined && role !== "tool" && { name }),
    ...(reasoning !== undefined && { reasoning_content: reasoning }),
    ...(toolCalls && {
      tool_calls: toolCalls.map((call) => ({
        id: call.id,
        type: "function",
        function: { name: call.name, arguments: call.arguments },
      })),
    }),
    ...(toolCallId !== undefined && { tool_call_id: toolCallId }),
  };
}

function encodeContent(content: ChatMessage["content"]) {
  return typeof content === "string" ? content : content.map(encodePart);
}

function encodePart(part: ContentPart) {
  if (part.type === "text") return { type: "text", text: part.text };
  const { source } = part;
  if (source.kind === "image") {
    return { type: "image_url", image_url: { url: carriedUrl(source.url, part.param), detail: source.detail } };
  }
  const { data, format = "wav" } = source;
  return { type: "input_audio", input_audio: { data, format } };
}

/** A picture that another machine can get at: files are this machine's. */
function carriedUrl(url: string, param: string): string {
  if (/^(data|https?):/i.test(url)) return url;
  const message = `'${param}' must be a data URL or an http(s) URL: the model is on another server, which has no files of this one.`;
  throw new SvcError("unsupported_media_input", message, { param });
}

function encodeTools({ tools, toolChoice, parallelToolCalls, constraint }: GenerateRequest) {
  if (tools.length === 0) return {};
  const strict = constraint?.strict === true && constraint.schema === undefined;
  const encode = ({ name, description, parameters }: Tool) => ({
    type: "function",
    function: { name, description, parameters, ...(strict && { strict }) },
  });
  return {
    tools: tools.map(encode),
    ...(toolChoice === "required" && { tool_choice: "required" }),
    ...(!parallelToolCalls && { parallel_tool_calls: false }),
  };
}

function encodeFormat({ constraint }: GenerateRequest) {
  if (constraint?.schema === undefined) return {};
  const { schema, strict } = constraint;
  const anyObject = Object.keys(schema).length === 1 && schema["type"] === "object";
  if (anyObject) return { response_format: { type: "json_object" } };
  return { response_format: { type: "json_schema", json_schema: { name: "answer", schema, strict } } };
}

function encodeThinking({ thinking, templateKwargs, reasoningBudget }: GenerateRequest, traits: ServerTraits) {
  const effort = templateKwargs["reasoning_effort"];
  // A server of which no more is known thinks when it is told an effort.
  const named = thinking && typeof effort === "string" && { reasoning_effort: effort === "max" ? "high" : effort };
  if (!traits.templateKwargs) return { ...named };
  const { reasoningBudget: field } = traits;
  return {
    chat_template_kwargs: { ...templateKwargs, ...(thinking !== undefined && { enable_thinking: thinking }) },
    ...(reasoningBudget !== undefined && field && { [field]: reasoningBudget }),
  };
}

function encodeLogprobs({ topLogprobs }: GenerateRequest) {
  if (topLogprobs === undefined) return {};
  return { logprobs: true, ...(topLogprobs > 0 && { top_logprobs: topLogprobs }) };
}
