// Decodes requests of Ollama's API into requests to the generation service.

import { OllamaChatRequest, OllamaGenerateRequest, OllamaOptions } from "../../contract/ollama.ts";
import { checker } from "../../contract/schema.ts";
import { fieldError, type SvcError } from "../../domain/errors.ts";
import type { ChatMessage, Constraint, Generation, JsonSchema, ToolCall } from "../../domain/generate.ts";
import { resolveReasoning } from "../../domain/reasoning.ts";
import { decodeAdapters } from "../fields/adapters.ts";
import { withInstruction } from "../../domain/instruction.ts";
import { fieldNames } from "../fields/field-names.ts";
import { imagePart } from "../fields/file-parts.ts";
import { CallArguments } from "../fields/json-object.ts";
import { decodeLogprobs, decodeMaxTokens, decodeModel, decodeStop } from "../fields/limits.ts";
import { decodeSampling } from "../fields/sampling.ts";
import type { GenerationSettings } from "../fields/settings.ts";
import { structureNames } from "../fields/structured.ts";
import { chooseTools, withTools } from "../fields/tools.ts";
import { isPrefilled, withOrderedResults } from "../../domain/turns.ts";
import { ollamaUnsupported } from "../fields/peer-fields.ts";
import { refuseUnsupported } from "../fields/unsupported.ts";
import { schemaConstraint } from "../../json-schema/constraint.ts";

interface OllamaCall {
  /** The model that the request names; absent: none. */
  readonly model?: string;
  /** Absent when there is nothing to answer: the client only wants the model to be loaded. */
  readonly request?: Generation;
  readonly stream: boolean;
  /** Whether the client no longer needs the model. */
  readonly unloads: boolean;
  /** Tokens of the previous conversation; absent: there is none. */
  readonly context?: readonly number[];
}

type Common = Pick<
  OllamaChatRequest,
  "model" | "format" | "options" | "stream" | "think" | "logprobs" | "top_logprobs"
>;

const checkChat = checker(OllamaChatRequest);
const checkGenerate = checker(OllamaGenerateRequest);

/** Decodes a chat request. Throws SvcError with a code of the 400 family, naming the field. */
export function decodeOllamaChat(raw: unknown, settings: GenerationSettings): OllamaCall {
  const body = checkChat(raw);
  refuseUnsupported(body, ollamaUnsupported(settings.contextShift));
  const call = { ...decodeModel(body.model), stream: body.stream ?? true, unloads: unloads(body.keep_alive) };
  if (!body.messages?.length) return call;
  const definitions = (body.tools ?? []).map((tool, index) => {
    const path = `tools.${index}.function`;
    return { ...tool.function, param: { name: `${path}.name`, parameters: `${path}.parameters` } };
  });
  const choice = { mode: "auto", param: { choice: "tools", name: "tools" } } as const;
  const tools = chooseTools(definitions, choice, settings.preparedSchemas);
  const texts = new CallArguments("messages");
  const decoded = body.messages.map((message, index) => decodeMessage(message, index, texts));
  const messages = withOrderedResults(withCallIds(decoded));
  // With a format, the answer is whole JSON, whatever is before it.
  const prefill = isPrefilled(messages) && !body.format && { continueLast: "if-possible" as const };
  return { ...call, request: { ...common(body, messages, settings, tools), ...prefill, choices: 1 } };
}

/** Decodes a generate request. Throws like `decodeOllamaChat`. */
export function decodeOllamaGenerate(raw: unknown, settings: GenerationSettings): OllamaCall {
  const body = checkGenerate(raw);
  refuseUnsupported(body, ollamaUnsupported(settings.contextShift));
  const call = { ...decodeModel(body.model), stream: body.stream ?? true, unloads: unloads(body.keep_alive) };
  const prompt = body.prompt ?? "";
  if (prompt === "" && !body.images?.length) return call;
  const tools = chooseTools([], { mode: "auto", param: { choice: "tools", name: "tools" } });
  // Some clients always send a suffix, which may be empty.
  const suffix = body.suffix || undefined;
  if (body.raw === true || suffix !== undefined) {
    if (body.images?.length) throw withoutTemplate("images", "'raw' and 'suffix' go without");
    if (body.context?.length) throw withoutTemplate("context", "'raw' and 'suffix' go without");
    const request = { ...common(body, [], settings, tools), prompt, choices: 1 };
    // A raw prompt is what a template has made.
    const parsed = body.raw === true && { parseSpecial: true as const };
    return { ...call, request: { ...request, ...parsed, ...(suffix !== undefined && { suffix }) } };
  }
  const system: ChatMessage[] = body.system ? [{ role: "system", content: body.system }] : [];
  const user: ChatMessage = { role: "user", content: withImages(prompt, body.images, "images") };
  // The answer returns the whole conversation as tokens in `context`.
  const request = { ...common(body, [...system, user], settings, tools), choices: 1, returnTokens: true as const };
  if (!body.context?.length) return { ...call, request };
  if (body.images?.length) throw withoutTemplate("images", "does not hold images with 'context'");
  return { ...call, request, context: body.context };
}

/** Returns whether `keep_alive` is zero, also as text with a unit: the client no longer needs the model. */
export const unloads = (keepAlive: number | string | null | undefined): boolean => /^0+[a-z]*$/.test(String(keepAlive));

const withoutTemplate = (param: string, why: string): SvcError =>
  fieldError("unsupported_parameter", param, `needs the chat template, which ${why}`);

function common(
  body: Common,
  messages: readonly ChatMessage[],
  settings: GenerationSettings,
  tools: ReturnType<typeof chooseTools>,
): Omit<Generation, "choices"> {
  const options = body.options ?? {};
  const { constraint, schema } = decodeFormat(body.format);
  const limit = options.num_predict != null && options.num_predict > 0 ? options.num_predict : settings.maxTokens;
  const { think } = body;
  const topLogprobs = decodeLogprobs(body, settings.maxLogprobs);
  return {
    ...decodeModel(body.model),
    messages: settings.constrain ? messages : withInstruction(messages, schema, tools.toolChoice),
    ...withTools(tools, true, constraint),
    ...resolveReasoning(
      {
        usual: constraint ? false : undefined,
        ...(typeof think === "boolean" && { enabled: think }),
        ...(typeof think === "string" && { effort: think }),
      },
      settings,
    ),
    sampling: decodeSampling(options, OllamaOptions),
    ...decodeAdapters({ model: body.model }, settings),
    stop: decodeStop(options.stop ?? [], settings.stop),
    ...decodeMaxTokens(limit),
    ...fieldNames({
      ...("prompt" in body && { messages: "prompt" }),
      max_tokens: "options.num_predict",
      n_keep: "options.num_keep",
      ...structureNames(constraint ? "format" : tools.tools.length > 0 ? "tools" : undefined),
    }),
    ...(options.num_keep && settings.contextShift && { keepTokens: options.num_keep }),
    ...(topLogprobs !== undefined && { topLogprobs }),
  };
}

function decodeFormat(format: Common["format"]): { constraint?: Constraint; schema?: JsonSchema } {
  if (format == null || format === "") return {};
  if (typeof format === "string" && format !== "json") {
    throw fieldError("invalid_value", "format", 'must be "json" or a JSON schema');
  }
  const schema: JsonSchema = typeof format === "string" ? { type: "object" } : format;
  return { constraint: schemaConstraint(schema, false, "format"), schema };
}

type WireMessage = NonNullable<OllamaChatRequest["messages"]>[number];

function decodeMessage(message: WireMessage, index: number, texts: CallArguments): ChatMessage {
  const { role, thinking } = message;
  const calls = (message.tool_calls ?? []).map((call, number) => ({
    id: call.id || `call_${index}_${number}`,
    name: call.function.name,
    arguments: texts.object(call.function.arguments),
  }));
  return {
    role,
    content: withImages(message.content ?? "", message.images, `messages.${index}.images`),
    ...(message.tool_name != null && { name: message.tool_name }),
    ...(role === "assistant" && thinking && { reasoning: thinking }),
    ...(role === "assistant" && calls.length > 0 && { toolCalls: calls }),
    ...(message.tool_call_id && { toolCallId: message.tool_call_id }),
  };
}

/** Adds the id of its call to each result that lacks one, as most clients of Ollama's API send none. */
function withCallIds(messages: readonly ChatMessage[]): ChatMessage[] {
  let open = new OpenCalls([]);
  return messages.map((message) => {
    if (message.toolCalls) open = new OpenCalls(message.toolCalls);
    if (message.role !== "tool") return message;
    const toolCallId = open.answer(message);
    return toolCallId === undefined ? message : { ...message, toolCallId };
  });
}

/** The calls of a turn that have no result yet. There may be very many, so none is looked at twice. */
class OpenCalls {
  private readonly answered = new Set<string>();
  private readonly inOrder: Iterator<ToolCall, undefined>;
  private readonly named = new Map<string, Iterator<ToolCall, undefined>>();

  constructor(calls: readonly ToolCall[]) {
    this.inOrder = this.unanswered(calls);
    for (const [name, group] of Map.groupBy(calls, (call) => call.name)) this.named.set(name, this.unanswered(group));
  }

  /** Returns the id of the call that a result answers: its own, or the first of its tool, or the first of all. */
  answer({ toolCallId, name }: ChatMessage): string | undefined {
    const id = toolCallId ?? (this.named.get(name ?? "")?.next().value ?? this.inOrder.next().value)?.id;
    if (id !== undefined) this.answered.add(id);
    return id;
  }

  private *unanswered(calls: readonly ToolCall[]): Generator<ToolCall, undefined> {
    for (const call of calls) if (!this.answered.has(call.id)) yield call;
    return undefined;
  }
}

function withImages(text: string, images: readonly string[] | null | undefined, param: string): ChatMessage["content"] {
  if (!images?.length) return text;
  const parts = images.map((data, index) => imagePart(`data:image/png;base64,${data}`, `${param}.${index}`));
  return [{ type: "text", text }, ...parts];
}
