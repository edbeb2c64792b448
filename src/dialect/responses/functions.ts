// The functions of a request, plain and in namespaces. A model knows one flat list of names, so the flat name of a
// function in a namespace combines both names.

import type { ResponsesPrompt } from "../../contract/responses.ts";
import { missing } from "../../domain/errors.ts";
import type { ToolDefinition } from "../fields/tools.ts";

type WireTool = NonNullable<ResponsesPrompt["tools"]>[number];
type WireFunction = Omit<WireTool, "tools">;

/** A function's name as clients know it. */
interface FunctionName {
  readonly name: string;
  readonly namespace?: string;
}

/** Maps flat names to the client's names, for functions in namespaces. */
export type FunctionNames = ReadonlyMap<string, FunctionName>;

/** Returns a function's name as the model knows it. */
export const flatName = ({ name, namespace }: { name: string; namespace?: string | null | undefined }): string =>
  namespace == null ? name : `${namespace}__${name}`;

/** Returns whether a tool would run in OpenAI's service. */
export const isHosted = ({ type }: WireTool): boolean => type !== "function" && type !== "namespace";

/**
 * Returns definitions with flat names, without hosted tools. Throws SvcError about a function or namespace without a name.
 */
export function decodeFunctions(tools: ResponsesPrompt["tools"]): ToolDefinition[] {
  return (tools ?? []).flatMap((tool, index) => {
    const path = `tools.${index}`;
    if (tool.type === "function") return [definition(tool, path)];
    if (tool.type !== "namespace") return [];
    const namespace = named(tool, path);
    return (tool.tools ?? []).flatMap((inner, place) =>
      inner.type === "function" ? [definition(inner, `${path}.tools.${place}`, namespace)] : [],
    );
  });
}

/** Returns the client's names for calls of these tools. */
export function functionNames(tools: ResponsesPrompt["tools"]): FunctionNames {
  const names = new Map<string, FunctionName>();
  for (const { type, name: namespace, tools: inner } of tools ?? []) {
    if (type !== "namespace" || namespace == null) continue;
    for (const { name } of inner ?? []) if (name != null) names.set(flatName({ name, namespace }), { name, namespace });
  }
  return names;
}

function definition(tool: WireFunction, path: string, namespace?: string): ToolDefinition {
  const name = flatName({ name: named(tool, path), namespace });
  return { ...tool, name, param: { name: `${path}.name`, parameters: `${path}.parameters` } };
}

function named({ name }: WireFunction, path: string): string {
  if (name != null) return name;
  throw missing(`${path}.name`, "a string");
}
