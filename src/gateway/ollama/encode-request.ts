// Converts a generation to the body of Ollama's /api/chat, or of /api/generate for raw text.

import { fieldError } from "../../domain/errors.ts";
import type { ChatMessage, GenerateRequest, MediaPart } from "../../domain/generate.ts";
import { jsonOf } from "../../domain/json.ts";
import { fields } from "../fields.ts";
import type { UpstreamCall } from "../openai/encode-request.ts";
import { traitsOf } from "../server-kind.ts";
import { cannotCarry, carryForeign, carrySampling, checkCarried } from "../unsupported.ts";

/** Throws SvcError about settings that this API lacks. `thinks`: the model can reason; others must not get `think`. */
export function encodeOllama(request: GenerateRequest, model: string, thinks: boolean): UpstreamCall {
  const traits = traitsOf("ollama");
  checkCarried(request, "ollama", traits);
  const { schema } = request.constraint ?? {};
  const options = {
    ...carrySampling(request.sampling, "ollama", traits),
    ...carryForeign(request, "ollama", traits.foreign),
    ...(request.maxTokens !== undefined && { num_predict: request.maxTokens }),
    ...(request.stop.length > 0 && { stop: request.stop }),
  };
  const common = {
    model,
    stream: true,
    options,
    ...(schema && { format: schema }),
    ...(thinks && request.thinking !== undefined && { think: thinkingOf(request) }),
    ...(request.topLogprobs !== undefined && { logprobs: true, top_logprobs: request.topLogprobs }),
  };
  if (request.prompt !== undefined) {
    if (typeof request.prompt !== "string") throw cannotCarry("prompt", "ollama");
    const { prompt, suffix } = request;
    // With a suffix, the server builds the prompt itself from a template.
    return {
      path: "/api/generate",
      body: { ...common, prompt, ...(suffix === undefined ? { raw: true } : { suffix }) },
    };
  }
  const tools = request.tools.map(({ name, description, parameters }) => ({
    type: "function",
    function: { name, description, parameters },
  }));
  const messages = request.messages.map(encodeMessage);
  return { path: "/api/chat", body: { ...common, messages, ...(tools.length > 0 && { tools }) } };
}

function thinkingOf({ thinking = false, templateKwargs }: GenerateRequest): boolean | string {
  const effort = templateKwargs["reasoning_effort"];
  if (!thinking || typeof effort !== "string") return thinking;
  return effort === "max" ? "high" : effort;
}

function encodeMessage({ role, content, name, reasoning, toolCalls, toolCallId }: ChatMessage) {
  const parts = typeof content === "string" ? [] : content;
  const texts =
    typeof content === "string" ? [content] : parts.flatMap((part) => (part.type === "text" ? [part.text] : []));
  const images = parts.flatMap((part) => (part.type === "media" ? [imageOf(part)] : []));
  return {
    role,
    content: texts.join("\n"),
    ...(images.length > 0 && { images }),
    ...(reasoning !== undefined && { thinking: reasoning }),
    ...(toolCalls && {
      tool_calls: toolCalls.map((call) => ({
        id: call.id,
        function: { name: call.name, arguments: fields(jsonOf(call.arguments)) },
      })),
    }),
    ...(role === "tool" && name !== undefined && { tool_name: name }),
    ...(toolCallId !== undefined && { tool_call_id: toolCallId }),
  };
}

function imageOf({ source, param }: MediaPart): string {
  const url = source.kind === "image" ? source.url : "";
  // Only the head is matched: to match all of a large image takes milliseconds, for each replica that is tried.
  const head = /^data:[^,]*;base64,/i.exec(url)?.[0];
  if (head !== undefined) return url.slice(head.length);
  const what = source.kind === "image" ? "must be a base64 data URL or an http(s) URL" : "cannot be passed on";
  const sentence = `${what}: the server of this model takes only images in base64`;
  throw fieldError("unsupported_media_input", param, sentence);
}
