import { firstTokenMs, streamChat } from "../client.ts";
import type { Figure, Measurement } from "../measurement.ts";
import type { PromptSource } from "../prompts.ts";
import { median } from "../stats.ts";

const PROMPTS = 15;
const ANSWER_TOKENS = 8;

/** A prompt that was just answered against a new one of the same length: what is kept may cost a client nothing. */
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

/** How many times sooner the first token of the second answer comes. */
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

/** Streams that go on until the function that comes back is called and has ended. */
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
