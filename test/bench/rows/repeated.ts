import { firstTokenMs, streamChat } from "../client.ts";
import type { Figure, Measurement } from "../measurement.ts";
import type { PromptSource } from "../prompts.ts";
import { median } from "../stats.ts";

const PROMPTS = 15;
const ANSWER_TOKENS = 8;

/** Compares a prompt that was just answered with a new one of equal length: a cached prefix must not cost time. */
export function repeated(lengths: readonly number[], besideStreams: readonly number[]): Measurement {
  return {
    id: "repeated",
    async run(port, prompts) {
      const figures: Figure[] = [];
      for (const streams of besideStreams) {
        for (const tokens of lengths) {
          const others = keepBusy(port, streams, prompts);
          const value = await gain(port, tokens, prompts);
          await others();
          const label = `a repeated prompt of ${tokens} tokens against a new one, beside ${streams} streams, first token`;
          figures.push({ label, unit: "times", better: "higher", value, wanted: { value: 1 } });
        }
      }
      return figures;
    },
  };
}

/** Returns how many times faster the first token of the second answer arrives. */
async function gain(port: number, tokens: number, prompts: PromptSource): Promise<number> {
  const first: number[] = [];
  const second: number[] = [];
  for (let number = 0; number < PROMPTS; number++) {
    const call = { prompt: prompts.next(tokens), maxTokens: ANSWER_TOKENS };
    first.push(firstTokenMs(await streamChat(port, call)));
    second.push(firstTokenMs(await streamChat(port, call)));
  }
  return median(first) / median(second);
}

/** Runs streams until the returned function is called and its promise has resolved. */
function keepBusy(port: number, streams: number, prompts: PromptSource): () => Promise<void> {
  let goOn = true;
  const stream = async () => {
    while (goOn) await streamChat(port, { prompt: prompts.next(64), maxTokens: 64 });
  };
  const all = Promise.all(Array.from({ length: streams }, stream));
  return async () => {
    goOn = false;
    await all;
  };
}
