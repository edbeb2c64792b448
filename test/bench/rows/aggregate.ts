import { firstTokenMs, streamChat, type ChatResult } from "../client.ts";
import type { Figure, Measurement, Wanted } from "../measurement.ts";
import { median } from "../stats.ts";
import { decodeLabel } from "./decode.ts";

/** Measures streams that start together: their rate over all their time, and while all of them decode. */
export function aggregate(streams: number, promptTokens: number, tokens: number, wanted?: Wanted): Measurement {
  const named = streams === 1 ? "1 stream" : `${streams} streams at once`;
  return {
    id: "aggregate",
    async run(port, prompts) {
      const calls = Array.from({ length: streams }, () => ({ prompt: prompts.next(promptTokens), maxTokens: tokens }));
      const results = await Promise.all(calls.map((call) => streamChat(port, call)));
      const started = Math.min(...results.map((result) => result.started));
      const ended = Math.max(...results.map((result) => result.ended));
      const value = ((streams * tokens) / (ended - started)) * 1000;
      const rate: Figure = { label: `end to end, ${named}`, unit: "tok/s", better: "higher", value };
      if (streams < 8) return [rate];
      const decoded: Figure = {
        ...rate,
        label: decodeLabel(streams),
        value: decodeRate(results),
        ...(wanted && { wanted }),
      };
      const wait = median(results.map(firstTokenMs));
      return [rate, decoded, { label: `first token, ${named}`, unit: "ms", better: "lower", value: wait }];
    },
  };
}

/** Measures streams that start together and end one by one, after `least` to `most` tokens. */
export function uneven(streams: number, promptTokens: number, least: number, most: number): Measurement {
  // Coprime to all powers of two, so that streams do not end in the order in which they came.
  const STRIDE = 13;
  const lengthOf = (at: number) => least + Math.round(((most - least) * ((at * STRIDE) % streams)) / (streams - 1));
  return {
    id: "uneven",
    async run(port, prompts) {
      const calls = Array.from({ length: streams }, (_, at) => ({
        prompt: prompts.next(promptTokens),
        maxTokens: lengthOf(at),
      }));
      const results = await Promise.all(calls.map((call) => streamChat(port, call)));
      const seconds =
        (Math.max(...results.map(({ ended }) => ended)) - Math.min(...results.map(({ started }) => started))) / 1000;
      const tokens = results.reduce((sum, { completionTokens }) => sum + completionTokens, 0);
      const label = `end to end, ${streams} streams of ${least} to ${most} tokens`;
      return [{ label, unit: "tok/s", better: "higher", value: tokens / seconds }];
    },
  };
}

/** Returns tokens per second between the first token of the last stream to start and the end of the first to end. */
function decodeRate(results: readonly ChatResult[]): number {
  const from = Math.max(...results.map(({ tokens }) => tokens[0] ?? NaN));
  const until = Math.min(...results.map(({ ended }) => ended));
  const decoded = results.map(({ tokens, completionTokens }) => {
    // A server may send several tokens in one event.
    const perEvent = completionTokens / tokens.length;
    return tokens.filter((time) => time > from && time <= until).length * perEvent;
  });
  return (decoded.reduce((sum, count) => sum + count, 0) / (until - from)) * 1000;
}
