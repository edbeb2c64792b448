// A request of the messages convention → what the generation service is asked.

import { CountMessageTokensRequest, MessagesRequest, type MessagesPrompt } from "../../contract/messages.ts";
import { checker } from "../../contract/schema.ts";
import { SvcError } from "../../domain/errors.ts";
import type { Constraint, GenerateRequest, Tool } from "../../domain/generate.ts";
import { prepareSchema } from "../../json-schema/prepare.ts";
import { schemaInstruction, withInstruction } from "../fields/instruction.ts";
import { decodeMaxTokens, decodeStop } from "../fields/limits.ts";
import { resolveReasoning, type ReasoningSettings } from "../fields/reasoning.ts";
import { decodeSampling } from "../fields/sampling.ts";
import { decodeConversation } from "./conversation.ts";

/** Launch options that shape a request. */
export interface MessagesSettings extends ReasoningSettings {
  readonly stop: readonly string[];
  readonly constrain: boolean;
}

type Request = Omit<GenerateRequest, "id">;

export interface MessagesCall {
  readonly request: Request;
  readonly stream: boolean;
  /** Thoughts are shown; else they are left out of the answer. */
  readonly showThinking: boolean;
  /** Stop sequences that the request itself named. */
  readonly stopSequences: readonly string[];
}

const checkMessages = checker(MessagesRequest);
const checkCount = checker(CountMessageTokensRequest);

/** Throws SvcError with a code of the 400 family, naming the field. */
export function decodeMessages(body: unknown, settings: MessagesSettings): MessagesCall {
  const asked = checkMessages(body);
  const stopSequences = asked.stop_sequences ?? [];
  return {
    request: {
      ...decodePrompt(asked, settings),
      sampling: decodeSampling(asked),
      ...decodeMaxTokens(asked.max_tokens),
      stop: decodeStop(stopSequences, settings.stop),
    },
    stream: asked.stream ?? false,
    showThinking: asked.thinking != null && asked.thinking.type !== "disabled",
    stopSequences,
  };
}

/** The prompt of a request whose tokens are to be counted. Throws like `decodeMessages`. */
export function decodeMessagesPrompt(body: unknown, settings: MessagesSettings): Request {
  return { ...decodePrompt(checkCount(body), settings), sampling: {}, stop: [] };
}

function decodePrompt(asked: MessagesPrompt, settings: MessagesSettings): Omit<Request, "sampling" | "stop"> {
  const conversation = decodeConversation(asked);
  const { constraint, instruction } = decodeFormat(asked, settings.constrain);
  const { type: thinking, budget_tokens: budget } = asked.thinking ?? {};
  const effort = asked.output_config?.effort ?? undefined;
  return {
    messages: instruction === undefined ? conversation : withInstruction(conversation, instruction),
    // The last words of an assistant are the beginning of the answer.
    continueLast: conversation.at(-1)?.role === "assistant" && !conversation.at(-1)?.toolCalls,
    ...decodeTools(asked, constraint),
    ...resolveReasoning(
      {
        ...(thinking != null && { enabled: thinking !== "disabled" }),
        ...(effort !== undefined && { effort }),
        ...(thinking === "enabled" && budget != null && { budget }),
      },
      settings,
    ),
    choices: 1,
  };
}

function decodeFormat(asked: MessagesPrompt, constrain: boolean): { constraint?: Constraint; instruction?: string } {
  const schema = asked.output_config?.format?.schema;
  if (schema == null) return {};
  const prepared = prepareSchema(schema, "output_config.format.schema");
  const constraint = { schema: prepared.schema, strict: true, inexpressible: prepared.inexpressible.length > 0 };
  return { constraint, ...(!constrain && { instruction: schemaInstruction(schema) }) };
}

type ToolFields = Pick<Request, "tools" | "toolChoice" | "parallelToolCalls" | "constraint">;

function decodeTools({ tools, tool_choice: choice }: MessagesPrompt, constraint: Constraint | undefined): ToolFields {
  // Tools of a type of their own run on the other side of the convention's service: not here.
  const own = (tools ?? []).filter(({ type }) => type == null || type === "custom");
  const decoded = own.map((tool, index) => decodeTool(tool, `tools.${index}`));
  const chosen = choose(decoded, choice);
  const strict = chosen.some((tool) => tool.strict);
  return {
    tools: chosen.map(({ tool }) => tool),
    toolChoice: choice?.type === "any" || choice?.type === "tool" ? "required" : "auto",
    parallelToolCalls: choice?.disable_parallel_tool_use !== true,
    ...((constraint || strict) && {
      constraint: {
        ...constraint,
        strict: true,
        inexpressible: (constraint?.inexpressible ?? false) || chosen.some((tool) => tool.strict && tool.inexpressible),
      },
    }),
  };
}

interface DecodedTool {
  readonly tool: Tool;
  readonly strict: boolean;
  readonly inexpressible: boolean;
}

type WireTool = NonNullable<MessagesPrompt["tools"]>[number];

function decodeTool({ name, description, input_schema, strict }: WireTool, path: string): DecodedTool {
  const parameters = input_schema ?? { type: "object", properties: {} };
  const prepared = prepareSchema(parameters, `${path}.input_schema`);
  return {
    tool: { name, description: description ?? "", parameters, enforced: prepared.schema },
    strict: strict === true,
    inexpressible: prepared.inexpressible.length > 0,
  };
}

function choose(tools: readonly DecodedTool[], choice: MessagesPrompt["tool_choice"]): readonly DecodedTool[] {
  const names = new Set(tools.map(({ tool }) => tool.name));
  const wrong = (param: string, rule: string) => new SvcError("invalid_value", `'${param}' ${rule}.`, { param });
  if (names.size < tools.length) throw wrong("tools", "must not have two tools of one name");
  if (choice == null || choice.type === "auto") return tools;
  if (choice.type === "none") return [];
  if (tools.length === 0) throw wrong("tool_choice", "needs 'tools'");
  if (choice.type === "any") return tools;
  const named = tools.filter(({ tool }) => tool.name === choice.name);
  if (named.length === 0) throw wrong("tool_choice.name", "must name one of the tools");
  return named;
}
