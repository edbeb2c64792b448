// Converts a generation to the body of a chat or text completion, as the server takes it.

import { SOUND_FORMATS, soundFormat, tagBytes } from "../../audio/decode/format.ts";
import type { ChatMessage, Constraint, ContentPart, GenerateRequest, Tool } from "../../domain/generate.ts";
import { fieldError } from "../../domain/errors.ts";
import { own } from "../../domain/own.ts";
import { traitsOf, type ServerKind, type ServerTraits } from "../server-kind.ts";
import { carryForeign, carrySampling, checkCarried } from "../unsupported.ts";

export interface UpstreamCall {
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Returns the call. Throws SvcError about settings that the server lacks. `model`: the server's name for the model. */
export function encodeOpenAi(request: GenerateRequest, model: string, kind: ServerKind): UpstreamCall {
  const traits = traitsOf(kind);
  checkCarried(request, kind, traits);
  const common = {
    model,
    stream: true,
    ...encodeReports(request, traits),
    ...carrySampling(request.sampling, kind, traits),
    ...carryForeign(request, kind, traits.foreign),
    ...(traits.hints && request.hints),
    ...(request.maxTokens !== undefined && { max_tokens: request.maxTokens }),
    ...(request.stop.length > 0 && { stop: request.stop }),
    ...(request.constraint?.grammar !== undefined && encodeGrammar(request.constraint, traits)),
    // `checkCarried` has refused those that the server lacks.
    ...(request.fresh && { cache_prompt: false }),
    ...(request.slot !== undefined && { id_slot: request.slot }),
    ...(request.keepTokens !== undefined && { n_keep: request.keepTokens }),
    ...(request.maxPredictMs !== undefined && { t_max_predict_ms: request.maxPredictMs }),
  };
  if (request.prompt !== undefined) {
    const logprobs = request.topLogprobs !== undefined && { logprobs: request.topLogprobs };
    const suffix = request.suffix !== undefined && { suffix: request.suffix };
    const { schema } = request.constraint ?? {};
    const format = traits.rawSchema === "json_schema" ? schema && { json_schema: schema } : encodeFormat(request, kind);
    return { path: "/v1/completions", body: { ...common, prompt: request.prompt, ...suffix, ...logprobs, ...format } };
  }
  return {
    path: "/v1/chat/completions",
    body: {
      ...common,
      messages: request.messages.map((message) => encodeMessage(message, traits)),
      ...(request.continueLast && traits.continueFields),
      ...(request.generationPrompt === false && { add_generation_prompt: false }),
      ...encodeTools(request, traits),
      ...encodeFormat(request, kind),
      ...encodeThinking(request, traits),
      ...encodeLogprobs(request),
    },
  };
}

/** Requests the usage at the end, and the reports before it. */
const encodeReports = ({ counted }: GenerateRequest, { reports }: ServerTraits) => ({
  stream_options: {
    include_usage: true,
    ...(counted !== undefined && reports === "usage" && { continuous_usage_stats: true }),
  },
  ...(counted !== undefined && reports === "timings" && { timings_per_token: true }),
  // Progress gives the prompt's token count even for cancelled requests.
  ...(reports === "timings" && { return_progress: true }),
});

function encodeMessage(message: ChatMessage, traits: ServerTraits) {
  const { role, content, name, reasoning, toolCalls, toolCallId } = message;
  return {
    role,
    content: toolCalls && content === "" ? null : encodeContent(content, traits),
    // svc, not the client, sets the name on tool messages; some servers accept no names there.
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

function encodeContent(content: ChatMessage["content"], traits: ServerTraits) {
  return typeof content === "string" ? content : content.map((part) => encodePart(part, traits));
}

function encodePart(part: ContentPart, { soundNames = {} }: ServerTraits) {
  if (part.type === "text") return { type: "text", text: part.text };
  const { source } = part;
  if (source.kind === "image") {
    return { type: "image_url", image_url: { url: carriedUrl(source.url, part.param), detail: source.detail } };
  }
  const [head = "", subtype] = AUDIO_HEAD.exec(source.data.slice(0, LONGEST_HEAD)) ?? [];
  const data = source.data.slice(head.length);
  const format = source.format?.toLowerCase() || (formatNamed(subtype) ?? formatOf(data, part.param));
  return { type: "input_audio", input_audio: { data, format: own(soundNames, format) ?? format } };
}

/** The beginning of a data URL, which svc also takes for sound; with the subtype. */
const AUDIO_HEAD = /^data:(?:audio\/(?:x-pn-|x-|vnd\.)?([\w-]+))?[^,]*;\s*base64\s*,/i;
const LONGEST_HEAD = 1000;
/** Subtypes that have another name as formats. */
const FORMATS: Readonly<Record<string, string>> = { mpeg: "mp3", wave: "wav" };

function formatNamed(subtype?: string): string | undefined {
  const name = subtype?.toLowerCase();
  return name && (own(FORMATS, name) ?? name);
}

/** Returns the format of base64, by its first bytes, or those after its tag. Throws SvcError for its field. */
function formatOf(data: string, param: string): string {
  const tag = tagBytes(headAt(data, 0));
  const format = soundFormat(headAt(data, tag), tag > 0);
  if (format) return format;
  throw fieldError("invalid_value", param, `must be ${SOUND_FORMATS}, unless 'format' names its format`);
}

/** Returns some bytes of base64 from this one on; four characters hold three bytes. */
function headAt(data: string, at: number): Buffer {
  const start = 4 * Math.floor(at / 3);
  return Buffer.from(data.slice(start, start + LONGEST_HEAD), "base64").subarray(at % 3);
}

/** Returns a URL that holds its image: files exist only on this machine, and a server must not fetch for clients. */
function carriedUrl(url: string, param: string): string {
  if (/^data:/i.test(url)) return url;
  const sentence =
    "must be a data URL or an http(s) URL: the model is on another server, which has no files of this one";
  throw fieldError("unsupported_media_input", param, sentence);
}

/**
 * Sends all tools of the client, so that the tool choice does not change the prompt; if the server does not support the
 * choice, sends only the tools that may be called.
 */
function encodeTools(
  { tools, allTools = tools, toolChoice, parallelToolCalls }: GenerateRequest,
  { toolChoices }: ServerTraits,
) {
  const [only, ...others] = tools;
  const isNone = only === undefined && toolChoices.includes("none");
  const isNamed =
    tools.length < allTools.length && others.length === 0 && toolChoice === "required" && toolChoices.includes("named");
  const sent = isNone || isNamed ? allTools : tools;
  if (sent.length === 0) return {};
  const named = isNamed && { tool_choice: { type: "function", function: { name: only?.name } } };
  return {
    tools: sent.map(encodeTool),
    ...(toolChoice === "required" && { tool_choice: "required" }),
    ...(isNone && { tool_choice: "none" }),
    ...named,
    ...(!parallelToolCalls && { parallel_tool_calls: false }),
  };
}

const encodeTool = ({ name, description, parameters, strict }: Tool) => ({
  type: "function",
  function: { name, description, parameters, ...(strict && { strict }) },
});

/** Returns the grammar, or the regular expression or choices it was made from if the server takes those. */
function encodeGrammar({ grammar, regex, choice }: Constraint, traits: ServerTraits) {
  if (traits.grammar === "gbnf") return { grammar };
  if (traits.grammar === "ebnf") return regex === undefined ? { ebnf: grammar } : { regex };
  return { structured_outputs: choice ? { choice } : regex === undefined ? { grammar } : { regex } };
}

function encodeFormat({ constraint }: GenerateRequest, kind: ServerKind) {
  if (constraint?.schema === undefined) return {};
  const { schema, strict, name = "answer" } = constraint;
  const anyObject = Object.keys(schema).length === 1 && schema["type"] === "object";
  // Another svc must know that the schema is strict, to say when it does not enforce it.
  const tellsStrict = strict && kind === "svc";
  if (anyObject && !tellsStrict) return { response_format: { type: "json_object" } };
  return { response_format: { type: "json_schema", json_schema: { name, schema, strict } } };
}

function encodeThinking(request: GenerateRequest, traits: ServerTraits) {
  const { thinking, templateKwargs, reasoningBudget, budgetField } = request;
  const effort = templateKwargs["reasoning_effort"];
  // A server without known template settings reasons when it gets an effort.
  const named = thinking && typeof effort === "string" && { reasoning_effort: effort === "max" ? "high" : effort };
  if (!traits.templateKwargs) return { ...named };
  const field = traits.mayRefuseBudgets && budgetField === undefined ? undefined : traits.reasoningBudget;
  const kwargs = { ...templateKwargs, ...(thinking !== undefined && { enable_thinking: thinking }) };
  return {
    ...(Object.keys(kwargs).length > 0 && { chat_template_kwargs: kwargs }),
    ...(reasoningBudget !== undefined && field && { [field]: reasoningBudget }),
  };
}

function encodeLogprobs({ topLogprobs }: GenerateRequest) {
  if (topLogprobs === undefined) return {};
  return { logprobs: true, ...(topLogprobs > 0 && { top_logprobs: topLogprobs }) };
}
