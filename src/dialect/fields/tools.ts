// Decodes tools and tool choice from the common form of all dialects.

import { MOST_TOOLS } from "../../contract/tools.ts";
import { fieldError, invalidValue } from "../../domain/errors.ts";
import type { Constraint, GenerateRequest, Generation, JsonSchema, Tool } from "../../domain/generate.ts";
import { SchemaBudget } from "../../json-schema/budget.ts";
import { prepareSchema } from "../../json-schema/prepare.ts";
import type { PreparedSchemas } from "../../json-schema/prepared-schemas.ts";

export interface ToolDefinition {
  readonly name: string;
  readonly description?: string | null | undefined;
  /** JSON schema of the arguments; absent: the tool takes none. */
  readonly parameters?: JsonSchema | null | undefined;
  readonly strict?: boolean | null | undefined;
  /** Set if more is required of the arguments than their schema says. */
  readonly inexpressible?: boolean;
  readonly described?: boolean;
  /** Names of the request's fields, for error messages. */
  readonly param: { readonly name: string; readonly parameters: string };
}

export interface ToolChoice {
  readonly mode: "auto" | "none" | "required";
  /** The tools that may be called; absent: all. */
  readonly names?: readonly string[];
  readonly param: { readonly choice: string; readonly name: string };
}

export interface ChosenTools extends Pick<Generation, "tools" | "allTools" | "toolChoice"> {
  /** Whether arguments that follow their schema were promised for some tool. */
  readonly strict: boolean;
  /** Whether some of these schemas have parts that a grammar cannot express. */
  readonly inexpressible: boolean;
}

/** What is enforced of a schema that allows anything: arguments are always an object. */
const ANY_OBJECT: JsonSchema = { type: "object" };
/** Schema for arguments whose own schema is `{}`. */
const ANY_PARAMETERS: JsonSchema = { type: "object", properties: {} };
/** A function without a schema takes no arguments; with a less strict grammar, the model would invent some. */
const NO_PARAMETERS: JsonSchema = { ...ANY_PARAMETERS, additionalProperties: false };

/** Returns a choice by which only these tools may be called, or one of them must be; without names, none may be. */
export const allowTools = (
  mode: "auto" | "required" | null | undefined,
  names: readonly string[],
  param: ToolChoice["param"],
): ToolChoice => ({ mode: names.length > 0 ? (mode ?? "auto") : "none", names, param });

/**
 * `schemas`: the prepared schemas of earlier requests. Throws SvcError about too many tools, duplicate names, a choice that
 * names no tool, or invalid parameters.
 */
export function chooseTools(
  definitions: readonly ToolDefinition[],
  choice: ToolChoice,
  schemas?: PreparedSchemas,
): ChosenTools {
  refuseTooMany(definitions.length);
  refuseDuplicates(definitions);
  const isWanted = wanted(definitions, choice);
  const budget = new SchemaBudget();
  const chosen = definitions.filter(isWanted).map((definition) => decodeTool(definition, budget, schemas));
  const tools = chosen.map(({ tool }) => tool);
  const all = () => definitions.map((one) => tools.find(({ name }) => name === one.name) ?? unchecked(one));
  return {
    tools,
    ...(tools.length < definitions.length && { allTools: all() }),
    toolChoice: choice.mode === "required" ? "required" : "auto",
    strict: chosen.some(({ strict }) => strict),
    inexpressible: chosen.some(({ strict, inexpressible }) => strict && inexpressible),
  };
}

/** Returns the tool fields of a request whose answer may also be constrained. */
export function withTools(
  chosen: ChosenTools,
  parallelToolCalls: boolean,
  constraint: Constraint | undefined,
): Pick<GenerateRequest, "tools" | "allTools" | "toolChoice" | "parallelToolCalls" | "constraint"> {
  const { strict, inexpressible, ...fields } = chosen;
  if (!constraint && !strict) return { ...fields, parallelToolCalls };
  return {
    ...fields,
    parallelToolCalls,
    constraint: {
      ...constraint,
      strict: strict || constraint?.strict === true,
      inexpressible: inexpressible || constraint?.inexpressible === true,
    },
  };
}

function decodeTool(definition: ToolDefinition, budget: SchemaBudget, schemas: PreparedSchemas | undefined) {
  const tool = unchecked(definition);
  const strict = definition.strict === true;
  // Who runs an agent cannot change the schemas of other people's tools, so one of these must not stop every request.
  const prepared = prepareSchema(tool.parameters, definition.param.parameters, budget, schemas, !strict);
  const enforced = Object.keys(prepared.schema).length > 0 ? prepared.schema : ANY_OBJECT;
  const inexpressible = definition.inexpressible === true || prepared.inexpressible.length > 0;
  return { tool: { ...tool, enforced }, strict, inexpressible };
}

/** Returns a tool without checking its schema. */
function unchecked({ name, description, parameters, strict, described }: ToolDefinition): Tool {
  const schema = parametersOf(parameters);
  return {
    name,
    description: description ?? "",
    parameters: schema,
    enforced: schema,
    ...(strict === true && { strict }),
    ...(described === true && { described }),
  };
}

function parametersOf(schema: JsonSchema | null | undefined): JsonSchema {
  if (schema == null) return NO_PARAMETERS;
  return Object.keys(schema).length === 0 ? ANY_PARAMETERS : schema;
}

/** Throws SvcError about too many tools. Wire schemas limit each list, but namespaces are lists within a list. */
function refuseTooMany(count: number): void {
  if (count <= MOST_TOOLS) return;
  throw invalidValue("tools", `have at most ${MOST_TOOLS} functions, those of namespaces included`, count);
}

function refuseDuplicates(definitions: readonly ToolDefinition[]): void {
  const seen = new Set<string>();
  for (const { name, param } of definitions) {
    if (seen.has(name)) {
      throw fieldError("invalid_value", param.name, "is the name of an earlier tool");
    }
    seen.add(name);
  }
}

function wanted(definitions: readonly ToolDefinition[], { mode, names, param }: ToolChoice) {
  if (mode === "none") return () => false;
  if (mode === "required" && definitions.length === 0) {
    throw fieldError("invalid_value", param.choice, "needs 'tools'");
  }
  if (names === undefined) return () => true;
  if (names.every((name) => definitions.some((definition) => definition.name === name))) {
    return ({ name }: ToolDefinition) => names.includes(name);
  }
  throw fieldError("invalid_value", param.name, "must name one of the tools");
}
