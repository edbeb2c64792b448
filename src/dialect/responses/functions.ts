// The functions of a request, alone and in namespaces. A model knows one flat list of names: a function of a namespace has
// both names in it.

import type { ResponsesPrompt } from "../../contract/responses.ts";
import { missing } from "../../domain/errors.ts";
import type { ToolDefinition } from "../fields/tools.ts";

type WireTool = NonNullable<ResponsesPrompt["tools"]>[number];
type WireFunction = Omit<WireTool, "tools">;

/** How clients name a function. */
interface FunctionName {
  readonly name: string;
  readonly namespace?: string;
}

/** The client's names by the model's, of functions in namespaces. */
export type FunctionNames = ReadonlyMap<string, FunctionName>;

/** What the model calls a function. */
export const flatName = ({ name, namespace }: { name: string; namespace?: string | null | undefined }): string =>
  namespace == null ? name : `${namespace}__${name}`;

/**
 * Definitions with flat names. Tools of other types would run in the API's own service: they are left
 * out. Throws SvcError about one without a name.
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

/** The names that calls of these tools go back to their client with. */
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
