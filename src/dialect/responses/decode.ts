// Decodes a Responses API request into a request to the generation service and the values that its resource echoes.

import {
  CountResponseTokensRequest,
  ResponsesRequest,
  type InputItem,
  type ResponsesPrompt,
} from "../../contract/responses.ts";
import { checker, received } from "../../contract/schema.ts";
import { fieldError, invalidValue, missing, type SvcError } from "../../domain/errors.ts";
import type { ChatMessage, Generation, JsonSchema } from "../../domain/generate.ts";
import { hintsOf } from "../../domain/hints.ts";
import { resolveReasoning } from "../../domain/reasoning.ts";
import { decodeAdapters } from "../fields/adapters.ts";
import { withInstruction } from "../../domain/instruction.ts";
import { fieldNames } from "../fields/field-names.ts";
import { checkAlternatives, decodeMaxTokens, decodeModel, decodeStop } from "../fields/limits.ts";
import { checkedMetadata } from "../fields/metadata.ts";
import { CHAT_FOREIGN, decodeForeign, RESPONSES_PEER_UNSUPPORTED } from "../fields/peer-fields.ts";
import { decodeKwargs } from "../fields/reasoning.ts";
import { decodeSampling } from "../fields/sampling.ts";
import type { GenerationSettings } from "../fields/settings.ts";
import {
  decodeConstraint,
  decodeStructure,
  STRUCTURE_UNSUPPORTED,
  schemaName,
  structureNames,
  type Structure,
} from "../fields/structured.ts";
import { allowTools, chooseTools, withTools, type ChosenTools, type ToolChoice } from "../fields/tools.ts";
import { always, refuseUnsupported } from "../fields/unsupported.ts";
import { joinTurns, withOrderedResults } from "../../domain/turns.ts";
import { clientTools, decodeFunctions, flatName, isVendorTool, type ClientTools } from "./functions.ts";
import { decodeInput, type FindItem } from "./input.ts";
import { conversationId } from "./resource.ts";
import { schemaConstraint } from "../../json-schema/constraint.ts";

/** The stored responses and conversations of this process. */
export interface History {
  /** Returns the conversation up to and including a stored response; undefined when it is no longer stored. */
  upTo(responseId: string): readonly ChatMessage[] | undefined;
  /** Returns the items of a conversation; undefined when it is no longer stored. */
  items(conversationId: string): readonly InputItem[] | undefined;
  readonly item: FindItem;
}

export interface ResponsesCall {
  readonly body: ResponsesRequest;
  readonly request: Generation;
  /** What a next turn continues from, before the answer: earlier turns and this input, without the instructions. */
  readonly conversation: readonly ChatMessage[];
  /** The client's tools that may be called. */
  readonly tools: ClientTools;
  readonly stream: boolean;
  readonly store: boolean;
  readonly background: boolean;
}

const checkRequest = checker(ResponsesRequest);
const checkCount = checker(CountResponseTokensRequest);
const UNSUPPORTED = {
  prompt: always,
  moderation: always,
  ...STRUCTURE_UNSUPPORTED,
  ...RESPONSES_PEER_UNSUPPORTED,
};

/** Throws SvcError with a code of the 400 family, naming the field, or 404 `not_found` for a response not stored. */
export function decodeResponses(raw: unknown, settings: GenerationSettings, history: History): ResponsesCall {
  const body = checkRequest(raw);
  refuseUnsupported(body, UNSUPPORTED);
  refuseBackground(body);
  refuseVendorTools(body);
  checkedMetadata(body.metadata);
  const topLogprobs = decodeLogprobs(body, settings.maxLogprobs);
  const { conversation, tools, prompt } = decodePrompt(body, settings, history, body.reasoning_budget_tokens);
  return {
    body,
    conversation,
    tools,
    request: {
      ...prompt,
      sampling: decodeSampling(body, ResponsesRequest),
      ...decodeForeign(body, CHAT_FOREIGN),
      // svc itself stores responses with their metadata.
      ...hintsOf({ ...body, verbosity: body.text?.verbosity, store: null, metadata: null }),
      ...decodeAdapters(body, settings),
      ...decodeMaxTokens(body.max_output_tokens ?? settings.maxTokens, "max_output_tokens"),
      stop: decodeStop(body.stop ?? [], settings.stop),
      ...(topLogprobs !== undefined && { topLogprobs }),
    },
    stream: body.stream ?? false,
    store: body.store ?? true,
    background: body.background ?? false,
  };
}

/** Decodes the prompt of a request to count tokens. Throws like `decodeResponses`. */
export function decodeResponsesPrompt(raw: unknown, settings: GenerationSettings, history: History): Generation {
  return { ...decodePrompt(checkCount(raw), settings, history, null).prompt, sampling: {}, stop: [] };
}

function refuseBackground(body: ResponsesRequest): void {
  if (body.background === true && body.store === false) {
    throw fieldError("invalid_value", "background", "needs 'store' to be true");
  }
}

/**
 * Throws SvcError when no tool but vendor tools may be called, or when one of these must be: without them, the model
 * would invent their results.
 */
function refuseVendorTools(body: ResponsesPrompt): void {
  const { tools, tool_choice: choice } = body;
  if (choice === "none") return;
  const onlyVendors = tools?.length && tools.every(isVendorTool) && decodeFunctions(body).length === 0;
  if (onlyVendors) throw unknownTool("tools.0.type");
  if (choice == null || typeof choice === "string") return;
  if (!isCallable(choice) && choice.type !== "allowed_tools") throw unknownTool("tool_choice.type");
}

const unknownTool = (param: string): SvcError =>
  fieldError(
    "unsupported_parameter",
    param,
    "names a type of tool that svc does not know; only functions and custom tools can be called here",
  );

function decodeLogprobs({ top_logprobs: alternatives, include }: ResponsesRequest, most: number): number | undefined {
  const wanted = include?.includes("message.output_text.logprobs") === true;
  if (alternatives == null && !wanted) return undefined;
  checkAlternatives(alternatives ?? 0, most, "top_logprobs");
  return alternatives ?? 0;
}

function decodePrompt(
  body: ResponsesPrompt,
  settings: GenerationSettings,
  history: History,
  budget: number | null | undefined,
) {
  const conversation = [...earlier(body, history), ...decodeInput(body.input, history.item)];
  if (conversation.length === 0) throw withoutInput(body.input);
  const functions = decodeFunctions(body);
  const tools = chooseTools(functions, decodeChoice(body.tool_choice ?? "auto"), settings.preparedSchemas);
  const { constraint, schema, param } = decodeFormat(body, tools, settings.guidedJson);
  const instructions: ChatMessage[] = body.instructions ? [{ role: "system", content: body.instructions }] : [];
  const messages = withOrderedResults(joinTurns([...instructions, ...conversation]));
  const effort = body.reasoning?.effort ?? undefined;
  const prompt = {
    ...decodeModel(body.model),
    messages: settings.constrain ? messages : withInstruction(messages, schema, tools.toolChoice),
    ...withTools(tools, body.parallel_tool_calls ?? true, constraint),
    ...resolveReasoning(
      {
        usual: constraint ? false : undefined,
        ...decodeKwargs(body.chat_template_kwargs),
        ...(effort !== undefined && { effort }),
        ...(budget != null && { budget, budgetField: "reasoning_budget_tokens" }),
      },
      settings,
    ),
    ...fieldNames({
      messages: "input",
      max_tokens: "max_output_tokens",
      thinking_token_budget: "reasoning_budget_tokens",
      ...structureNames(param ?? (tools.tools.length > 0 ? "tools" : undefined)),
    }),
    choices: 1,
  };
  return { conversation, tools: clientTools(functions), prompt };
}

function withoutInput(input: ResponsesPrompt["input"]): SvcError {
  const param = "input";
  if (input == null) {
    return missing(param, "a string or an array of items");
  }
  const rule = "be a string or an array of at least 1 item that is not of a vendor tool";
  return invalidValue(param, rule, received(input));
}

function earlier(
  { previous_response_id: id, conversation: named }: ResponsesPrompt,
  history: History,
): readonly ChatMessage[] {
  const param = "previous_response_id";
  if (named != null && id != null) {
    throw fieldError("invalid_value", param, "cannot be used with 'conversation'");
  }
  if (named != null) return itemsOf(conversationId(named), history);
  if (id == null) return [];
  const conversation = history.upTo(id);
  if (conversation) return conversation;
  throw fieldError("not_found", param, "names a response that is not stored here");
}

function itemsOf(id: string, history: History): readonly ChatMessage[] {
  const param = "conversation";
  const items = history.items(id);
  if (items) return decodeInput([...items], history.item, param);
  throw fieldError("not_found", param, "names a conversation that is not stored here");
}

function decodeFormat(
  body: ResponsesPrompt,
  tools: ChosenTools,
  guidedJson: JsonSchema | undefined,
): Partial<Structure> {
  return formatOf(body) ?? decodeConstraint(body, tools, body.text?.format ? undefined : guidedJson);
}

/** Returns the structure for `text.format`, or undefined. Throws SvcError when another field sets a structure too. */
function formatOf(body: ResponsesPrompt): Structure | undefined {
  const format = body.text?.format;
  const schema = format && schemaOf(format);
  if (!schema) return undefined;
  const other = decodeStructure(body);
  if (other) {
    const { param } = other;
    throw fieldError("invalid_value", param, "cannot be used together with 'text.format'");
  }
  // Strict unless the request turns it off, as in OpenAI's API.
  const strict = format.type === "json_schema" && format.strict !== false;
  return {
    schema,
    constraint: { ...schemaConstraint(schema, strict, "text.format.schema"), ...schemaName(format.name) },
    param: "text.format",
  };
}

type Format = NonNullable<NonNullable<ResponsesPrompt["text"]>["format"]>;

function schemaOf({ type, schema }: Format): JsonSchema | undefined {
  if (type === "text") return undefined;
  if (type === "json_object") return { type: "object" };
  if (schema != null) return schema;
  throw missing("text.format.schema", "an object");
}

const isCallable = ({ type }: { type: string }): boolean => type === "function" || type === "custom";

function decodeChoice(choice: NonNullable<ResponsesPrompt["tool_choice"]>): ToolChoice {
  const param = { choice: "tool_choice", name: "tool_choice.name" };
  if (typeof choice === "string") return { mode: choice, param };
  const flat = (named: { name?: string | null; namespace?: string | null }) =>
    flatName({ ...named, name: named.name ?? "" });
  if (isCallable(choice)) return { mode: "required", names: [flat(choice)], param };
  if (choice.type === "allowed_tools") {
    const names = (choice.tools ?? []).flatMap((tool) => (isCallable(tool) ? [flat(tool)] : []));
    return allowTools(choice.mode, names, { ...param, name: "tool_choice.tools" });
  }
  // A vendor tool: `refuseVendorTools` refuses an answer with it.
  return { mode: "auto", param };
}
