import { firstTokenMs, streamChat, type ChatResult } from "../client.ts";
import type { Figure, Measurement, Wanted } from "../measurement.ts";
import type { PromptSource } from "../prompts.ts";
import { median, percentile } from "../stats.ts";

export interface FanOut {
  readonly requests: number;
  /** Tokens of the shared prefix. */
  readonly shared: number;
  /** Tokens that differ in each prompt. */
  readonly tail: number;
  readonly maxTokens: number;
}

function wave(port: number, shared: string, shape: FanOut, prompts: PromptSource): Promise<ChatResult[]> {
  const tails = Array.from({ length: shape.requests }, () => prompts.next(shape.tail));
  const calls = tails.map((tail) => ({ prompt: `${shared} ${tail}`, maxTokens: shape.maxTokens }));
  return Promise.all(calls.map((call) => streamChat(port, call)));
}

const describe = ({ requests, shared, tail }: FanOut): string =>
  `${requests} requests sharing ${shared} + ${tail} each`;

/** Measures requests that arrive together with a shared prefix that is not cached yet. */
export function fanOut(shape: FanOut, wanted: Wanted): Measurement {
  return {
    id: "fan-out",
    async run(port, prompts) {
      const results = await wave(port, prompts.next(shape.shared), shape, prompts);
      const started = Math.min(...results.map((result) => result.started));
      const value = (Math.max(...results.map((result) => result.ended)) - started) / 1000;
      return [{ label: `${describe(shape)}, cold, until the last ends`, unit: "s", better: "lower", value, wanted }];
    },
  };
}

/** Measures the same after a first wave, when the prefix is cached and only the ends are new. */
export function warmFanOut(shape: FanOut, wanted: Wanted): Measurement {
  return {
    id: "warm-fan-out",
    async run(port, prompts) {
      const shared = prompts.next(shape.shared);
      await wave(port, shared, shape, prompts);
      const times = (await wave(port, shared, shape, prompts)).map(firstTokenMs);
      const label = (which: string) => `${describe(shape)}, second wave, first token, ${which}`;
      return [
        { label: label("median"), unit: "ms", better: "lower", value: median(times), wanted },
        { label: label("last"), unit: "ms", better: "lower", value: percentile(times, 1) },
      ] satisfies Figure[];
    },
  };
}
