// Fields that constrain the form of an answer, under the names of several APIs: OpenAI's `response_format`, llama.cpp's
// `grammar` and `json_schema`, vLLM's `structured_outputs` and its older `guided_…`, SGLang's `regex` and `ebnf`.

import { grammar } from "./sampling.ts";
import { JsonObject, oneOf, opt, t, type Static } from "./schema.ts";

/** Some clients send a boolean as text. */
const Strict = t.Union([t.Boolean(), oneOf("true", "false")]);

const ResponseFormat = t.Object(
  {
    type: oneOf("text", "json_object", "json_schema", "grammar"),
    json_schema: opt(
      t.Object({
        name: opt(t.String()),
        description: opt(t.String()),
        schema: opt(JsonObject),
        strict: opt(Strict),
      }),
    ),
    schema: opt(
      t.Object(
        {},
        { additionalProperties: true, description: "For json_object: a schema that the object must follow." },
      ),
    ),
    grammar: opt(t.String({ minLength: 1, maxLength: 1_000_000, description: "For grammar: the grammar in GBNF." })),
  },
  {
    description:
      "Takes precedence over the server's --guided-json, which applies to conversations without a field for the form of the answer. Type text: any form.",
  },
);

const Json = t.Union([JsonObject, t.String({ minLength: 1, maxLength: 1_000_000 })], {
  description: "JSON schema of the answer, as an object or as its JSON text.",
});
const Regex = t.String({
  minLength: 1,
  maxLength: 4000,
  description: "Regular expression that the whole answer must match.",
});
const Choice = t.Array(t.String({ minLength: 1, maxLength: 10_000 }), {
  minItems: 1,
  maxItems: 20_000,
  description: "Texts, one of which the answer must be.",
});

const StructuredOutputs = t.Object({
  json: opt(Json),
  regex: opt(Regex),
  choice: opt(Choice),
  grammar,
  json_object: opt(t.Boolean()),
});

export const structuredFields = {
  response_format: opt(ResponseFormat),
  grammar,
  json_schema: opt(
    t.Object({}, { additionalProperties: true, description: "JSON schema of the answer; {} allows any JSON." }),
  ),
  structured_outputs: opt(StructuredOutputs),
  guided_json: opt(Json),
  guided_regex: opt(Regex),
  guided_choice: opt(Choice),
  guided_grammar: grammar,
  regex: opt(Regex),
  ebnf: grammar,
};

const StructuredFields = t.Object(structuredFields);
export type StructuredFields = Static<typeof StructuredFields>;
