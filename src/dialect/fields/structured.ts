// Decodes what form an answer must have, from any of the fields for it.

import type { StructuredFields } from "../../contract/structured.ts";
import { fieldError, invalidValue, missing, SvcError } from "../../domain/errors.ts";
import type { Constraint, JsonSchema } from "../../domain/generate.ts";
import { textAlternatives, tooMany } from "../../json-schema/alternatives.ts";
import { MAX_CHARACTERS } from "../../json-schema/limits.ts";
import { choiceGrammar, regexGrammar } from "../../json-schema/regex-grammar.ts";
import { grammarConstraint } from "./grammar.ts";
import type { ChosenTools } from "./tools.ts";
import { always, refuseUnsupported, unless } from "./unsupported.ts";
import { schemaConstraint } from "../../json-schema/constraint.ts";

/** A constraint, and the client's own schema for prompts that must state it in words. */
export interface Structure {
  readonly constraint: Constraint;
  readonly asked?: JsonSchema;
  /** The field that the structure came in. */
  readonly param: string;
}

const ANY_OBJECT: JsonSchema = { type: "object" };

/** Settings of vLLM's structured outputs that are not supported. */
const OUTPUTS_UNSUPPORTED = {
  structural_tag: always,
  disable_fallback: unless(false),
  disable_any_whitespace: unless(false),
  disable_additional_properties: unless(false),
  whitespace_pattern: always,
};

/** Fields of other APIs that would change how a structure is enforced. */
export const STRUCTURE_UNSUPPORTED = {
  guided_decoding_backend: always,
  guided_whitespace_pattern: always,
  structural_tag: always,
};

/**
 * Returns the structure that a request asks for, or undefined. Throws SvcError when a schema, grammar or expression is
 * invalid, or when several are given.
 */
export function decodeStructure(asked: StructuredFields): Structure | undefined {
  const [first, second] = structures(asked);
  if (!first) return undefined;
  if (second) {
    throw fieldError("invalid_value", first.param, `cannot be used together with '${second.param}'`);
  }
  return { ...first.make(), param: first.param };
}

/**
 * Returns the structure, else that of the launch options. `guided`: their schema, for requests without a format. Throws
 * SvcError when a schema or grammar is invalid, or when a grammar is given together with tools.
 */
export function decodeConstraint(
  asked: StructuredFields,
  { tools }: ChosenTools,
  guided: JsonSchema | undefined,
): Partial<Structure> {
  const own = decodeStructure(asked);
  if (own) {
    const { param, constraint } = own;
    if (constraint.grammar === undefined || tools.length === 0) return own;
    throw fieldError("invalid_value", param, "cannot be used together with 'tools'");
  }
  if (guided === undefined || asked.response_format != null) return {};
  return { asked: guided, constraint: schemaConstraint(guided, false, "response_format.json_schema.schema") };
}

/** Maps the usual names in errors about the structure to the field that it came in. */
export const structureNames = (param: string | undefined) => ({ grammar: param, response_format: param });

type Decoded = Omit<Structure, "param">;

interface GivenField {
  readonly param: string;
  readonly make: () => Decoded;
}

function structures(asked: StructuredFields): GivenField[] {
  const { structured_outputs: outputs } = asked;
  if (outputs != null) refuseUnsupported(outputs, OUTPUTS_UNSUPPORTED, "structured_outputs.");
  return [
    ...given("grammar", asked.grammar, grammar),
    ...formatOf(asked.response_format),
    ...given("json_schema", asked.json_schema, json),
    ...given("guided_json", asked.guided_json, json),
    ...given("guided_regex", asked.guided_regex, regex),
    ...given("guided_choice", asked.guided_choice, choice),
    ...given("guided_grammar", asked.guided_grammar, grammar),
    ...given("regex", asked.regex, regex),
    ...given("ebnf", asked.ebnf, grammar),
    ...given("structured_outputs.json", outputs?.json, json),
    ...given("structured_outputs.regex", outputs?.regex, regex),
    ...given("structured_outputs.choice", outputs?.choice, choice),
    ...given("structured_outputs.grammar", outputs?.grammar, grammar),
    ...given("structured_outputs.json_object", outputs?.json_object || undefined, () => schema(ANY_OBJECT, "")),
  ];
}

const given = <T>(
  param: string,
  value: T | null | undefined,
  make: (value: T, param: string) => Decoded,
): GivenField[] => (value == null || value === "" ? [] : [{ param, make: () => make(value, param) }]);

function formatOf(format: StructuredFields["response_format"]): GivenField[] {
  if (format == null || format.type === "text") return [];
  const make = (): Decoded => {
    if (format.type === "grammar") {
      const param = "response_format.grammar";
      if (format.grammar != null) return grammar(format.grammar, param);
      throw missing(param, "a string");
    }
    if (format.schema != null) return schema(format.schema as JsonSchema, "response_format.schema");
    if (format.type === "json_object") return schema(ANY_OBJECT, "response_format");
    const param = "response_format.json_schema";
    if (format.json_schema == null) {
      throw missing(param, "an object");
    }
    const { schema: own, strict, name } = format.json_schema;
    const { asked, constraint } = schema(own ?? ANY_OBJECT, `${param}.schema`, strict === true || strict === "true");
    return { ...(asked && { asked }), constraint: { ...constraint, ...schemaName(name) } };
  };
  return [{ param: format.type === "grammar" ? "response_format.grammar" : "response_format", make }];
}

/** Returns a schema's name if it is one that OpenAI's API accepts. */
export const schemaName = (name: string | null | undefined): Pick<Constraint, "name"> =>
  name != null && /^[\w-]{1,64}$/.test(name) ? { name } : {};

const schema = (asked: JsonSchema, param: string, strict = false): Decoded => ({
  asked,
  constraint: schemaConstraint(asked, strict, param),
});

function json(asked: JsonSchema | string | object, param: string): Decoded {
  if (typeof asked !== "string") return schema(asked as JsonSchema, param);
  const parsed = parsedObject(asked);
  if (parsed) return schema(parsed, param);
  throw invalidValue(param, "be a JSON schema", `a string of length ${asked.length} that is not a JSON object`);
}

function parsedObject(text: string): JsonSchema | undefined {
  try {
    const parsed: unknown = JSON.parse(text);
    return typeof parsed === "object" && parsed !== null && !Array.isArray(parsed) ? (parsed as JsonSchema) : undefined;
  } catch {
    return undefined;
  }
}

const grammar = (asked: string, param: string): Decoded => ({ constraint: grammarConstraint(asked, param) });

function choice(asked: readonly string[], param: string): Decoded {
  for (const [at, one] of asked.entries()) refuseHalves(one, `${param}.${at}`);
  const characters = asked.reduce((sum, one) => sum + one.length, 0);
  if (characters > MAX_CHARACTERS) {
    throw invalidValue(param, `have at most ${MAX_CHARACTERS} characters in all`, String(characters));
  }
  const problem = tooMany(textAlternatives(asked), characters);
  if (problem !== undefined) throw new SvcError("invalid_value", `'${param}': ${problem}.`, { param });
  const grammar = choiceGrammar(asked);
  return { constraint: { grammar, strict: false, inexpressible: false, choice: asked } };
}

function regex(asked: string, param: string): Decoded {
  refuseHalves(asked, param);
  const found = regexGrammar(asked);
  if (found !== undefined) return { constraint: { ...grammarConstraint(found, param), regex: asked } };
  const sentence = `must be a regular expression without lookaround, backreferences, \\b and \\p`;
  throw fieldError("invalid_value", param, sentence);
}

/** Throws SvcError about text with half a surrogate pair: answers are UTF-8, so none contains it. */
function refuseHalves(text: string, param: string): void {
  if (text.isWellFormed()) return;
  throw invalidValue(param, "be whole Unicode", `a string of length ${text.length} with half a surrogate pair`);
}
