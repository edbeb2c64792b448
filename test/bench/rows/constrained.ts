import { streamChat } from "../client.ts";
import type { Measurement, Wanted } from "../measurement.ts";

/** A schema whose answers exceed any limit here, so that the length does not depend on the model. */
const ENDLESS = {
  type: "array",
  items: {
    type: "object",
    properties: { name: { type: "string" }, age: { type: "integer" } },
    required: ["name", "age"],
  },
  minItems: 500,
};

/** Answers to this prompt repeat little of it, so that speculative decoding has no effect. */
const PROMPT =
  "Who lives in a small town by the sea? Describe the people, their names and ages, and what they do all day.";

/**
 * Measures the rate of a single stream under a JSON schema, including prefill, and of one of the same length without.
 */
export function constrained(tokens: number, wanted?: Wanted): Measurement {
  return {
    id: "constrained",
    async run(port) {
      const fields = {
        response_format: { type: "json_schema", json_schema: { name: "people", strict: true, schema: ENDLESS } },
        chat_template_kwargs: { enable_thinking: false },
        ignore_eos: false,
      };
      // White space before the JSON is not content, so the first token may appear late.
      const rate = async (more: Readonly<Record<string, unknown>>) => {
        const result = await streamChat(port, { prompt: PROMPT, maxTokens: tokens, fields: more });
        return (tokens / (result.ended - result.started)) * 1000;
      };
      const bound = await rate(fields);
      return [
        { label: "end to end under a schema, 1 stream", unit: "tok/s", better: "higher", value: bound },
        {
          label: "under a schema against free of it",
          unit: "times",
          better: "higher",
          value: bound / (await rate({})),
          ...(wanted && { wanted }),
        },
      ];
    },
  };
}
