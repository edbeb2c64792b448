import { streamChat } from "../client.ts";
import type { Measurement } from "../measurement.ts";

/** Answers that fit the KV cache one by one, but not all at once: how many become complete. */
export function overflow(lengths: readonly number[]): Measurement {
  return {
    id: "overflow",
    async run(port, prompts) {
      const answers = lengths.map((maxTokens) => streamChat(port, { prompt: prompts.next(16), maxTokens }));
      const settled = await Promise.allSettled(answers);
      const value = settled.filter(({ status }) => status === "fulfilled").length;
      const label = `complete answers of ${lengths.join(", ")} tokens at once`;
      return [{ label, unit: "requests", better: "higher", value, wanted: { value: lengths.length } }];
    },
  };
}
