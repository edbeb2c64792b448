import { streamChat } from "../client.ts";
import type { Measurement, Wanted } from "../measurement.ts";

/** The label of a decode rate, here and in the figures of llama.cpp's own benchmarks. */
export const decodeLabel = (streams: number): string => `decode, ${streams === 1 ? "1 stream" : `${streams} streams`}`;

/** Measures the decode rate of a single stream, without prefill. */
export function decode(tokens: number, wanted?: Wanted): Measurement {
  return {
    id: "decode",
    async run(port, prompts) {
      const result = await streamChat(port, { prompt: prompts.next(32), maxTokens: tokens });
      // From the first token to the end of the stream, so that merging tokens into one event gives no advantage.
      const value = ((tokens - 1) / (result.ended - (result.tokens[0] ?? NaN))) * 1000;
      return [{ label: decodeLabel(1), unit: "tok/s", better: "higher", value, ...(wanted && { wanted }) }];
    },
  };
}
