// The tools of a request that the client runs: functions and custom tools, plain and in namespaces. A model knows one
// flat list of names, so the flat name of a tool in a namespace combines both names.

import { ItemTools, type ItemTool, type ResponsesPrompt } from "../../contract/responses.ts";
import { partChecker } from "../../contract/schema.ts";
import { missing } from "../../domain/errors.ts";
import type { ToolDefinition } from "../fields/tools.ts";
import { customFunction } from "./custom-tools.ts";

type WireFunction = Omit<ItemTool, "tools">;

/** A tool as clients know it. */
interface ClientTool {
  readonly type: "function" | "custom";
  readonly name: string;
  readonly namespace?: string;
}

/** Maps flat names to the client's tools. */
export type ClientTools = ReadonlyMap<string, ClientTool>;

/** A function as the model knows it, with its flat name, and the client's tool that it stands for. */
interface ClientFunction extends ToolDefinition {
  readonly client: ClientTool;
}

const checkTools = partChecker(ItemTools);

/** Returns a tool's name as the model knows it. */
export const flatName = ({ name, namespace }: { name: string; namespace?: string | null | undefined }): string =>
  namespace == null ? name : `${namespace}__${name}`;

/** Returns whether a tool is a vendor's, to run in its service (web search) or at the client (a shell). */
export const isVendorTool = ({ type }: ItemTool): boolean =>
  type !== "function" && type !== "custom" && type !== "namespace";

/**
 * Returns the functions of a request, without vendor tools. Items of the input may add some; of those with equal names,
 * the first counts. Throws SvcError about a tool or namespace without a name, and about a wrong tool of an item.
 */
export function decodeFunctions({ tools, input }: Pick<ResponsesPrompt, "tools" | "input">): ClientFunction[] {
  const functions = functionsIn(tools, "tools");
  const known = new Set(functions.map(({ name }) => name));
  for (const [index, item] of (Array.isArray(input) ? input : []).entries()) {
    if (item.type !== "additional_tools" && item.type !== "tool_search_output") continue;
    const path = `input.${index}.tools`;
    for (const added of functionsIn(checkTools(item.tools ?? [], path), path)) {
      if (known.has(added.name)) continue;
      known.add(added.name);
      functions.push(added);
    }
  }
  return functions;
}

/** Returns the client's tools for calls of these functions. */
export const clientTools = (functions: readonly ClientFunction[]): ClientTools =>
  new Map(functions.map(({ name, client }) => [name, client]));

function functionsIn(tools: readonly ItemTool[] | null | undefined, path: string): ClientFunction[] {
  return (tools ?? []).flatMap((tool, index) => {
    const at = `${path}.${index}`;
    if (tool.type !== "namespace") return functionOf(tool, at);
    const namespace = named(tool, at);
    return (tool.tools ?? []).flatMap((inner, place) => functionOf(inner, `${at}.tools.${place}`, namespace));
  });
}

/** Returns a function or custom tool as a function, and none for a vendor tool. */
function functionOf(tool: WireFunction, path: string, namespace?: string): ClientFunction[] {
  const { type } = tool;
  if (type !== "function" && type !== "custom") return [];
  const client: ClientTool = { type, name: named(tool, path), ...(namespace !== undefined && { namespace }) };
  const param = { name: `${path}.name`, parameters: `${path}.parameters` };
  const definition = type === "custom" ? customFunction(tool, path) : { ...tool, param };
  return [{ ...definition, name: flatName(client), client }];
}

function named({ name }: WireFunction, path: string): string {
  if (name != null) return name;
  throw missing(`${path}.name`, "a string");
}
