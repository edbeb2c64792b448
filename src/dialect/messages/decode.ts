// Decodes a request of the Messages API into a request to the generation service.

import { CountMessageTokensRequest, MessagesRequest, type MessagesPrompt } from "../../contract/messages.ts";
import { checker } from "../../contract/schema.ts";
import { fieldError } from "../../domain/errors.ts";
import type { Constraint, Generation, JsonSchema } from "../../domain/generate.ts";
import { resolveReasoning } from "../../domain/reasoning.ts";
import { isPrefilled } from "../../domain/turns.ts";
import { decodeAdapters } from "../fields/adapters.ts";
import { withInstruction } from "../../domain/instruction.ts";
import { fieldNames } from "../fields/field-names.ts";
import { decodeMaxTokens, decodeModel, decodeStop } from "../fields/limits.ts";
import { MESSAGES_PEER_UNSUPPORTED } from "../fields/peer-fields.ts";
import { decodeKwargs } from "../fields/reasoning.ts";
import { decodeSampling } from "../fields/sampling.ts";
import type { GenerationSettings } from "../fields/settings.ts";
import { structureNames } from "../fields/structured.ts";
import { chooseTools, withTools } from "../fields/tools.ts";
import { always, notEmpty, refuseUnsupported } from "../fields/unsupported.ts";
import { decodeConversation } from "./conversation.ts";
import { callableTools } from "./deferred-tools.ts";
import { schemaConstraint } from "../../json-schema/constraint.ts";
import type { PreparedSchemas } from "../../json-schema/prepared-schemas.ts";

interface MessagesCall {
  readonly request: Generation;
  readonly stream: boolean;
  /** Whether the answer includes the reasoning. */
  readonly showThinking: boolean;
  /** Whether to compute the prompt without answering. */
  readonly promptAlone: boolean;
  /** Stop sequences of the request itself, without launch options. */
  readonly stopSequences: readonly string[];
}

const checkMessages = checker(MessagesRequest);
const checkCount = checker(CountMessageTokensRequest);
const UNSUPPORTED = { container: always, mcp_servers: notEmpty, ...MESSAGES_PEER_UNSUPPORTED };

/** Decodes a request. Throws SvcError with a code of the 400 family, naming the field. */
export function decodeMessages(raw: unknown, settings: GenerationSettings): MessagesCall {
  const body = checkMessages(raw);
  refuseUnsupported(body, UNSUPPORTED);
  refuseVendorTools(body);
  const stopSequences = body.stop_sequences ?? [];
  return {
    request: {
      ...decodePrompt(body, settings),
      sampling: decodeSampling(body, MessagesRequest),
      ...decodeAdapters({ model: body.model }, settings),
      // The engine computes a prompt for at least one token.
      ...decodeMaxTokens(body.max_tokens || 1),
      stop: decodeStop(stopSequences, settings.stop),
    },
    stream: body.stream ?? false,
    showThinking: body.thinking != null && body.thinking.type !== "disabled",
    promptAlone: body.max_tokens === 0,
    stopSequences,
  };
}

/** Decodes the prompt of a request to count tokens. Throws like `decodeMessages`. */
export function decodeMessagesPrompt(raw: unknown, settings: GenerationSettings): Generation {
  return { ...decodePrompt(checkCount(raw), settings), sampling: {}, stop: [] };
}

function decodePrompt(body: MessagesPrompt, settings: GenerationSettings): Omit<Generation, "sampling" | "stop"> {
  refuseThread(body);
  const conversation = decodeConversation(body);
  const tools = decodeTools(body, settings.preparedSchemas);
  const { constraint, schema, param } = decodeFormat(body, settings.guidedJson);
  const { type: thinking, budget_tokens: budget } = body.thinking ?? {};
  const effort = body.output_config?.effort ?? undefined;
  return {
    ...decodeModel(body.model),
    messages: settings.constrain ? conversation : withInstruction(conversation, schema, tools.toolChoice),
    continueLast: isPrefilled(conversation),
    ...withTools(tools, body.tool_choice?.disable_parallel_tool_use !== true, constraint),
    ...resolveReasoning(
      {
        usual: false,
        ...decodeKwargs(body.chat_template_kwargs),
        // Without `thinking`, an answer does not show its thoughts: the client would wait and pay for nothing.
        ...(thinking == null ? { effortDecides: false } : { enabled: thinking !== "disabled" }),
        ...(effort !== undefined && { effort }),
        ...(thinking === "enabled" && budget != null && { budget }),
      },
      settings,
    ),
    ...fieldNames(structureNames(param ?? (body.tools?.length ? "tools" : undefined))),
    choices: 1,
  };
}

/** Throws SvcError about a turn of a conversation stored on the server: svc would answer this turn alone. */
function refuseThread(body: MessagesPrompt): void {
  const param = "thread";
  if ((body as Readonly<Record<string, unknown>>)[param] == null) return;
  throw fieldError("unsupported_parameter", param, "is not supported: send the whole conversation");
}

function decodeFormat(
  { output_config: config, output_format: older }: MessagesPrompt,
  guidedJson: JsonSchema | undefined,
): { constraint?: Constraint; schema?: JsonSchema; param?: string } {
  const own = config?.format?.schema ?? older?.schema;
  const schema = own ?? guidedJson;
  if (schema === undefined) return {};
  const param = config?.format == null ? "output_format.schema" : "output_config.format.schema";
  return { constraint: schemaConstraint(schema, own !== undefined, param), schema, ...(own && { param }) };
}

type WireTool = NonNullable<MessagesPrompt["tools"]>[number];

/** Vendor tools have a type and no schema. They run in the vendor's service (web search) or at the client (a shell). */
const isVendorTool = ({ type }: WireTool): boolean => type != null && type !== "custom";

/** Throws SvcError when no tool but vendor tools may be called: without them, the model would invent their results. */
function refuseVendorTools({ tools, tool_choice: choice }: MessagesPrompt): void {
  if (!tools?.length || choice?.type === "none") return;
  const named = choice?.type === "tool" ? tools.filter(({ name }) => name === choice.name) : tools;
  const [first] = named.every(isVendorTool) ? named : [];
  if (!first) return;
  const param = `tools.${tools.indexOf(first)}.type`;
  throw fieldError(
    "unsupported_parameter",
    param,
    "names a type of tool that svc does not know; only tools with an input_schema can be called here",
  );
}

function decodeTools(body: MessagesPrompt, schemas: PreparedSchemas | undefined) {
  const { tools, tool_choice: choice } = body;
  const own = callableTools(body).filter(({ tool }) => !isVendorTool(tool));
  const definitions = own.map(({ tool, described }) => {
    const { input_schema: parameters, ...rest } = tool;
    const path = `tools.${tools?.indexOf(tool)}`;
    return { ...rest, parameters, described, param: { name: `${path}.name`, parameters: `${path}.input_schema` } };
  });
  const modes = { auto: "auto", any: "required", tool: "required", none: "none" } as const;
  const chosen = {
    mode: modes[choice?.type ?? "auto"],
    ...(choice?.type === "tool" && { names: [choice.name ?? ""] }),
    param: { choice: "tool_choice", name: "tool_choice.name" },
  };
  return chooseTools(definitions, chosen, schemas);
}
