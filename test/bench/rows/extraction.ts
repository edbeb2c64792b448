import { parsed } from "../../support/parsed.ts";
import { streamAnswer } from "../client.ts";
import type { Figure, Measurement, Wanted } from "../measurement.ts";
import { describePerson, listKeys, person, pickFields, type Person } from "../records.ts";

const KEYS: readonly (keyof Person)[] = ["name", "age", "email"];
const SCHEMA = {
  type: "object",
  properties: { name: { type: "string" }, age: { type: "integer" }, email: { type: "string" } },
  required: KEYS,
  additionalProperties: false,
};
const FIELDS = {
  response_format: { type: "json_schema", json_schema: { name: "person", strict: true, schema: SCHEMA } },
  chat_template_kwargs: { enable_thinking: false },
};
const ROOM_TOKENS = 96;

/** Measures JSON extraction under a schema; each client sends one request after another, with different texts. */
export function extraction(streams: number, each: number, wanted: Wanted): Measurement {
  return {
    id: "extraction",
    async run(port) {
      let right = 0;
      const client = async (first: number) => {
        for (let number = first; number < first + each; number++) {
          const text = await extract(port, number);
          // A wrong answer may be truncated; then it does not parse.
          if (Bun.deepEquals(parsed(text), pickFields(person(number), KEYS))) right++;
        }
      };
      const started = performance.now();
      await Promise.all(Array.from({ length: streams }, (_, index) => client(index * each)));
      const seconds = (performance.now() - started) / 1000;
      const rate = (streams * each) / seconds;
      return [
        { label: `extractions, ${streams} streams`, unit: "req/s", better: "higher", value: rate, wanted },
        { label: "extractions that are right", unit: "%", better: "higher", value: (100 * right) / (streams * each) },
      ] satisfies Figure[];
    },
  };
}

async function extract(port: number, number: number): Promise<string> {
  const prompt = `Extract the ${listKeys(KEYS)} as JSON: ${describePerson(person(number), KEYS)}`;
  return (await streamAnswer(port, { prompt, maxTokens: ROOM_TOKENS, fields: FIELDS })).text;
}
