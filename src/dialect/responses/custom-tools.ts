// Custom tools, which take a text instead of JSON. To the model, each is a function with one string, `input`.

import type { ItemTool } from "../../contract/responses.ts";
import type { JsonSchema } from "../../domain/generate.ts";
import { isRegex } from "../../json-schema/regex-parser.ts";
import { closeJson } from "../../text/json-close.ts";
import { objectOf } from "../fields/json-object.ts";
import type { ToolDefinition } from "../fields/tools.ts";

/**
 * Returns a custom tool as a function. A regular expression is enforced as far as a grammar can express it. A grammar
 * in another syntax, also a regular expression in that of Rust or Python, is only described to the model, and the client
 * is informed as about a schema that is not enforced.
 */
export function customFunction({ description, format }: ItemTool, path: string): Omit<ToolDefinition, "name"> {
  const param = { name: `${path}.name`, parameters: `${path}.format.definition` };
  const { syntax, definition } = format ?? {};
  if (definition == null) return { description, parameters: inputSchema({}), param };
  if (syntax === "regex" && isRegex(definition)) {
    return { description, parameters: inputSchema({ pattern: `^(?:${definition})$` }), strict: true, param };
  }
  const rule = `input must follow this ${syntax ?? ""} grammar:\n${definition}`;
  const described = description == null ? rule : `${description}\n\n${rule}`;
  return { description: described, parameters: inputSchema({}), strict: true, inexpressible: true, param };
}

const inputSchema = (limits: { readonly pattern?: string }): JsonSchema => ({
  type: "object",
  properties: { input: { type: "string", ...limits } },
  required: ["input"],
  additionalProperties: false,
});

/** Returns a call's text from the function's arguments, which may have been cut off. */
export function inputOf(text: string): string {
  const { input } = objectOf(text + (closeJson(text) ?? ""));
  return typeof input === "string" ? input : text;
}
