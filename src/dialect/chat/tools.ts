// Tools and the choice among them, of the current and the older form → the domain's.

import type { ChatCompletionRequest, ChatFunction } from "../../contract/chat.ts";
import { SvcError } from "../../domain/errors.ts";
import type { JsonSchema, Tool } from "../../domain/generate.ts";
import { prepareSchema } from "../../json-schema/prepare.ts";

export interface ToolSettings {
  /** Tools that may be called; none when calling is forbidden. */
  readonly tools: readonly Tool[];
  readonly toolChoice: "auto" | "required";
  readonly parallelToolCalls: boolean;
  /** Arguments that follow their schema were promised. */
  readonly strict: boolean;
  /** Some strict tool's schema has parts that a grammar cannot express. */
  readonly inexpressible: boolean;
}

const NO_PARAMETERS: JsonSchema = { type: "object", properties: {} };

/** Throws SvcError about duplicate names, a choice that names no tool, or parameters that are no schema. */
export function decodeTools(chat: ChatCompletionRequest): ToolSettings {
  const legacy = chat.tools == null && chat.functions != null;
  const definitions = legacy ? (chat.functions ?? []) : (chat.tools ?? []).map(definitionOf);
  const path = (index: number) => (legacy ? `functions.${index}` : `tools.${index}.function`);
  refuseDuplicates(definitions, path);
  const { names, required } = decodeChoice(chat, definitions);
  const chosen = definitions.flatMap((definition, index) =>
    names === undefined || names.has(definition.name) ? [decodeTool(definition, path(index))] : [],
  );
  return {
    tools: chosen.map(({ tool }) => tool),
    toolChoice: required ? "required" : "auto",
    parallelToolCalls: chat.parallel_tool_calls ?? true,
    strict: chosen.some(({ strict }) => strict),
    inexpressible: chosen.some(({ strict, inexpressible }) => strict && inexpressible),
  };
}

type WireTool = NonNullable<ChatCompletionRequest["tools"]>[number];

function definitionOf(tool: WireTool, index: number): ChatFunction {
  if (tool.type === "custom") {
    const param = `tools.${index}.type`;
    throw new SvcError("unsupported_parameter", `'${param}': custom tools are not supported, only functions.`, {
      param,
    });
  }
  if (tool.function != null) return tool.function;
  const param = `tools.${index}.function`;
  throw new SvcError("missing_required_parameter", `'${param}' is required: an object.`, { param });
}

function decodeTool({ name, description, parameters, strict }: ChatFunction, path: string) {
  const asked = asObject(parameters ?? NO_PARAMETERS);
  const prepared = prepareSchema(asked, `${path}.parameters`);
  const tool: Tool = { name, description: description ?? "", parameters: asked, enforced: prepared.schema };
  return { tool, strict: strict === true, inexpressible: prepared.inexpressible.length > 0 };
}

/** Arguments are always an object, whether the schema says so or not. */
const asObject = (schema: JsonSchema): JsonSchema =>
  schema["type"] === undefined && Object.keys(schema).length === 0 ? NO_PARAMETERS : schema;

function refuseDuplicates(definitions: readonly ChatFunction[], path: (index: number) => string): void {
  const seen = new Set<string>();
  for (const [index, { name }] of definitions.entries()) {
    const param = `${path(index)}.name`;
    if (seen.has(name)) throw new SvcError("invalid_value", `'${param}' is the name of an earlier tool.`, { param });
    seen.add(name);
  }
}

/** `names`: the tools that may be called; undefined: all of them. */
function decodeChoice(
  chat: ChatCompletionRequest,
  definitions: readonly ChatFunction[],
): { names?: ReadonlySet<string>; required: boolean } {
  const param = chat.tool_choice != null ? "tool_choice" : "function_call";
  const choice = chat.tool_choice ?? chat.function_call ?? "auto";
  if (choice === "none") return { names: new Set(), required: false };
  if (choice === "auto") return { required: false };
  if (definitions.length === 0) throw new SvcError("invalid_value", `'${param}' needs 'tools'.`, { param });
  if (choice === "required") return { required: true };
  const name = "function" in choice ? choice.function.name : choice.name;
  if (definitions.some((definition) => definition.name === name)) return { names: new Set([name]), required: true };
  throw new SvcError("invalid_value", `'${param}' must name one of the tools.`, { param });
}
