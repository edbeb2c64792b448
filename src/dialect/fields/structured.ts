// Decodes what form an answer must have, from any of the fields for it.

import type { StructuredFields } from "../../contract/structured.ts";
import { fieldError, invalidValue, missing, SvcError } from "../../domain/errors.ts";
import type { Constraint, JsonSchema } from "../../domain/generate.ts";
import { isObject, jsonOf } from "../../domain/json.ts";
import { textAlternatives, tooMany } from "../../json-schema/alternatives.ts";
import { MAX_CHARACTERS } from "../../json-schema/limits.ts";
import { choiceGrammar, regexGrammar } from "../../json-schema/regex-grammar.ts";
import { grammarConstraint } from "./grammar.ts";
import { needText } from "./need-text.ts";
import type { ChosenTools } from "./tools.ts";
import { always, refuseUnsupported, unless } from "./unsupported.ts";
import { schemaConstraint } from "../../json-schema/constraint.ts";

/** A constraint, and the client's own schema for prompts that must state it in words. */
export interface Structure {
  readonly constraint: Constraint;
  readonly schema?: JsonSchema;
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
 * Returns the structure that a request specifies, or undefined. Throws SvcError when a schema, grammar or expression is
 * invalid, or when several are given.
 */
export function decodeStructure(fields: StructuredFields): Structure | undefined {
  const [first, second] = structures(fields);
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
  fields: StructuredFields,
  { tools }: ChosenTools,
  guided: JsonSchema | undefined,
): Partial<Structure> {
  const own = decodeStructure(fields);
  if (own) {
    const { param, constraint } = own;
    if (constraint.grammar === undefined || tools.length === 0) return own;
    throw fieldError("invalid_value", param, "cannot be used together with 'tools'");
  }
  if (guided === undefined || fields.response_format != null) return {};
  return { schema: guided, constraint: schemaConstraint(guided, false, "response_format.json_schema.schema") };
}

/** Maps the usual names in errors about the structure to the field that it came in. */
export const structureNames = (param: string | undefined) => ({ grammar: param, response_format: param });

type Decoded = Omit<Structure, "param">;

interface GivenField {
  readonly param: string;
  readonly make: () => Decoded;
}

function structures(fields: StructuredFields): GivenField[] {
  const { structured_outputs: outputs } = fields;
  if (outputs != null) refuseUnsupported(outputs, OUTPUTS_UNSUPPORTED, "structured_outputs.");
  return [
    ...given("grammar", fields.grammar, grammar),
    ...formatOf(fields.response_format),
    ...given("json_schema", fields.json_schema, json),
    ...given("guided_json", fields.guided_json, json),
    ...given("guided_regex", fields.guided_regex, regex),
    ...given("guided_choice", fields.guided_choice, choice),
    ...given("guided_grammar", fields.guided_grammar, grammar),
    ...given("regex", fields.regex, regex),
    ...given("ebnf", fields.ebnf, grammar),
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
      return grammar(needText(format.grammar, param), param);
    }
    if (format.schema != null) return schema(format.schema as JsonSchema, "response_format.schema");
    if (format.type === "json_object") return schema(ANY_OBJECT, "response_format");
    const param = "response_format.json_schema";
    if (format.json_schema == null) {
      throw missing(param, "an object");
    }
    const { schema: own, strict, name } = format.json_schema;
    const decoded = schema(own ?? ANY_OBJECT, `${param}.schema`, strict === true || strict === "true");
    return { ...decoded, constraint: { ...decoded.constraint, ...schemaName(name) } };
  };
  return [{ param: format.type === "grammar" ? "response_format.grammar" : "response_format", make }];
}

/** Returns a schema's name if it is one that OpenAI's API accepts. */
export const schemaName = (name: string | null | undefined): Pick<Constraint, "name"> =>
  name != null && /^[\w-]{1,64}$/.test(name) ? { name } : {};

const schema = (own: JsonSchema, param: string, strict = false): Decoded => ({
  schema: own,
  constraint: schemaConstraint(own, strict, param),
});

function json(value: JsonSchema | string | object, param: string): Decoded {
  if (typeof value !== "string") return schema(value as JsonSchema, param);
  const parsed = jsonOf(value);
  if (isObject(parsed)) return schema(parsed, param);
  throw invalidValue(param, "be a JSON schema", `a string of length ${value.length} that is not a JSON object`);
}

const grammar = (text: string, param: string): Decoded => ({ constraint: grammarConstraint(text, param) });

function choice(texts: readonly string[], param: string): Decoded {
  for (const [at, one] of texts.entries()) refuseHalves(one, `${param}.${at}`);
  const characters = texts.reduce((sum, one) => sum + one.length, 0);
  if (characters > MAX_CHARACTERS) {
    throw invalidValue(param, `have at most ${MAX_CHARACTERS} characters in all`, String(characters));
  }
  const problem = tooMany(textAlternatives(texts), characters);
  if (problem !== undefined) throw new SvcError("invalid_value", `'${param}': ${problem}.`, { param });
  const grammar = choiceGrammar(texts);
  return { constraint: { grammar, strict: false, inexpressible: false, choice: texts } };
}

function regex(expression: string, param: string): Decoded {
  refuseHalves(expression, param);
  const found = regexGrammar(expression);
  if (found !== undefined) return { constraint: { ...grammarConstraint(found, param), regex: expression } };
  const kind = "an ECMA-262 regular expression of moderate size and depth that matches some text";
  const sentence = `must be ${kind}, without lookaround, backreferences, \\b, \\B and \\p`;
  throw fieldError("invalid_value", param, sentence);
}

/** Throws SvcError about text with half a surrogate pair: answers are UTF-8, so none contains it. */
function refuseHalves(text: string, param: string): void {
  if (text.isWellFormed()) return;
  throw invalidValue(param, "be whole Unicode", `a string of length ${text.length} with half a surrogate pair`);
}
