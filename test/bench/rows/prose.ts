import { streamAnswer } from "../client.ts";
import type { Measurement, Wanted } from "../measurement.ts";

const ANSWER_TOKENS = 128;
const QUESTIONS = [
  "Tell me about the history of bread in a few paragraphs.",
  "How does a bicycle stay upright? Explain it to a child.",
  "Write a short story about a lighthouse keeper and a storm.",
  "Give me ten tips for keeping a vegetable garden.",
  "What are the differences between a violin and a cello?",
  "Describe a morning in a small town by the sea.",
];

/**
 * Measures answers in plain prose, in which few tokens are predictable: speculative decoding must not slow them down.
 */
export function prose(wanted: Wanted): Measurement {
  return {
    id: "prose",
    async run(port) {
      let decoded = 0;
      let milliseconds = 0;
      for (const prompt of QUESTIONS) {
        const result = await streamAnswer(port, { prompt, maxTokens: ANSWER_TOKENS });
        decoded += result.completionTokens - 1;
        milliseconds += result.ended - (result.tokens[0] ?? NaN);
      }
      const value = (decoded / milliseconds) * 1000;
      return [{ label: "prose, 1 stream", unit: "tok/s", better: "higher", value, wanted }];
    },
  };
}
