import { streamChat } from "../client.ts";
import type { Measurement } from "../measurement.ts";

/** Measures how many answers become complete when each of them fits the KV cache, but not all at once. */
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
