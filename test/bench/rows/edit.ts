import { streamAnswer, type Message } from "../client.ts";
import type { Figure, Measurement, Wanted } from "../measurement.ts";
import { describePerson, listKeys, person, pickFields, type Person } from "../records.ts";

const KEYS: readonly (keyof Person)[] = ["name", "email", "phone", "job"];
const REQUESTS = 32;
const ROOM_TOKENS = 128;
const FIELDS = { chat_template_kwargs: { enable_thinking: false } };

/**
 * Measures an answer that repeats text of the prompt with one value replaced: a record as text and JSON, then the
 * same record with another job. Longer documents are beyond svc-mini.
 */
export function edit(wanted: Wanted): Measurement {
  return {
    id: "edit",
    async run(port) {
      let decoded = 0;
      let milliseconds = 0;
      let right = 0;
      for (let number = 0; number < REQUESTS; number++) {
        const before = person(number);
        const after = { ...before, job: person(number + 1).job };
        const prompt: Message[] = [ask(before), { role: "assistant", content: json(before) }, ask(after)];
        const result = await streamAnswer(port, { prompt, maxTokens: ROOM_TOKENS, fields: FIELDS });
        decoded += result.completionTokens - 1;
        milliseconds += result.ended - (result.tokens[0] ?? NaN);
        if (result.text === json(after)) right++;
      }
      return [
        { label: "edits, 1 stream", unit: "tok/s", better: "higher", value: (decoded / milliseconds) * 1000, wanted },
        { label: "edits that are right", unit: "%", better: "higher", value: (100 * right) / REQUESTS },
        ...(await acceptance(port)),
      ];
    },
  };
}

const ask = (one: Person): Message => ({
  role: "user",
  content: `Extract the ${listKeys(KEYS)} as JSON: ${describePerson(one, KEYS)}`,
});

/** Writes JSON with a space after commas and colons, as the model does. */
const json = (one: Person): string => {
  const pairs = Object.entries(pickFields(one, KEYS));
  return `{${pairs.map(([key, value]) => `${JSON.stringify(key)}: ${JSON.stringify(value)}`).join(", ")}}`;
};

/** Returns the acceptance rate, when the server counts speculative tokens. */
async function acceptance(port: number): Promise<Figure[]> {
  // svc reports these counts about once a second.
  await Bun.sleep(1200);
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  const count = (name: string) =>
    [...text.matchAll(new RegExp(`^\\w*${name}(?:_total)?(?:\\{.*\\})? (\\S+)$`, "gm"))].reduce(
      (sum, [, value]) => sum + Number(value),
      0,
    );
  const drafted = count("spec_decode_num_draft_tokens");
  if (!(drafted > 0)) return [];
  const value = (100 * count("spec_decode_num_accepted_tokens")) / drafted;
  return [{ label: "drafted tokens that were accepted", unit: "%", better: "higher", value }];
}
