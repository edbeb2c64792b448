import { firstTokenMs, streamChat } from "../client.ts";
import type { Measurement } from "../measurement.ts";
import { median } from "../stats.ts";

/** Measures the time to first token of a request on an idle server. */
export function firstToken(promptTokens: number, repeats: number): Measurement {
  return {
    id: "ttft",
    async run(port, prompts) {
      const times: number[] = [];
      for (let index = 0; index < repeats; index++) {
        times.push(firstTokenMs(await streamChat(port, { prompt: prompts.next(promptTokens), maxTokens: 2 })));
      }
      return [{ label: `first token, prompt of ${promptTokens}`, unit: "ms", better: "lower", value: median(times) }];
    },
  };
}
