// Decodes the chat dialect's tools and tool choice, in the current and the older form.

import type { ChatCompletionRequest } from "../../contract/chat.ts";
import { missing, SvcError } from "../../domain/errors.ts";
import type { PreparedSchemas } from "../../json-schema/prepared-schemas.ts";
import { allowTools, chooseTools, type ChosenTools, type ToolChoice, type ToolDefinition } from "../fields/tools.ts";

/** Throws SvcError about duplicate names, a choice that names no tool, or parameters that are not a schema. */
export function decodeTools(chat: ChatCompletionRequest, schemas: PreparedSchemas | undefined): ChosenTools {
  const legacy = chat.tools == null && chat.functions != null;
  const definitions = legacy ? decodeFunctions(chat) : (chat.tools ?? []).map(decodeTool);
  return chooseTools(definitions, decodeChoice(chat), schemas);
}

const decodeFunctions = ({ functions }: ChatCompletionRequest): ToolDefinition[] =>
  (functions ?? []).map((definition, index) => ({ ...definition, param: paramsOf(`functions.${index}`) }));

type WireTool = NonNullable<ChatCompletionRequest["tools"]>[number];

function decodeTool(tool: WireTool, index: number): ToolDefinition {
  if (tool.type === "custom") {
    const param = `tools.${index}.type`;
    throw new SvcError("unsupported_parameter", `'${param}': custom tools are not supported, only functions.`, {
      param,
    });
  }
  const param = `tools.${index}.function`;
  if (tool.function != null) return { ...tool.function, param: paramsOf(param) };
  throw missing(param, "an object");
}

const paramsOf = (path: string) => ({ name: `${path}.name`, parameters: `${path}.parameters` });

function decodeChoice({ tool_choice: choice, function_call: older }: ChatCompletionRequest): ToolChoice {
  if (choice == null) {
    const param = { choice: "function_call", name: "function_call" };
    if (older == null || typeof older === "string") return { mode: older ?? "auto", param };
    return { mode: "required", names: [older.name], param };
  }
  const param = { choice: "tool_choice", name: "tool_choice" };
  if (typeof choice === "string") return { mode: choice, param };
  if (choice.type === "function") return { mode: "required", names: [given(choice, "function").name], param };
  const { mode, tools } = given(choice, "allowed_tools");
  return allowTools(
    mode,
    tools.map((tool) => tool.function.name),
    { ...param, name: "tool_choice.allowed_tools.tools" },
  );
}

type WireChoice = Extract<NonNullable<ChatCompletionRequest["tool_choice"]>, object>;

/** Returns the field that a choice of this type requires. Throws SvcError when the field is missing. */
function given<Key extends "function" | "allowed_tools">(choice: WireChoice, key: Key): NonNullable<WireChoice[Key]> {
  const value = choice[key];
  if (value != null) return value;
  throw missing(`tool_choice.${key}`, "an object");
}
