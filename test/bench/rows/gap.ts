import { firstTokenMs, streamChat } from "../client.ts";
import type { Figure, Measurement, Wanted } from "../measurement.ts";
import { percentile } from "../stats.ts";

/** Long enough to keep decoding until the prompt is computed, whether or not the server is fair. */
const STREAM_TOKENS = 700;
const HEAD_START_MS = 400;

/** Measures gaps in running streams while another client's long prompt is computed, and the total time of all. */
export function gap(streams: number, promptTokens: number, wanted: { p99: Wanted; total: Wanted }): Measurement {
  return {
    id: "gap",
    async run(port, prompts) {
      const decoding = Array.from({ length: streams }, () =>
        streamChat(port, { prompt: prompts.next(32), maxTokens: STREAM_TOKENS }),
      );
      await Bun.sleep(HEAD_START_MS);
      const long = await streamChat(port, { prompt: prompts.next(promptTokens), maxTokens: 2 });
      const results = await Promise.all(decoding);
      const until = long.tokens[0] ?? NaN;
      const gaps = results.flatMap(({ tokens }) =>
        tokens.slice(1).flatMap((time, index) => {
          const before = tokens[index] ?? NaN;
          return time > long.started && before < until ? [time - before] : [];
        }),
      );
      const started = Math.min(...results.map((result) => result.started));
      const total = Math.max(long.ended, ...results.map(({ ended }) => ended)) - started;
      const during = (which: string) => `gap of ${streams} streams during a prefill of ${promptTokens}, ${which}`;
      return [
        { label: during("p50"), unit: "ms", better: "lower", value: percentile(gaps, 0.5) },
        { label: during("p99"), unit: "ms", better: "lower", value: percentile(gaps, 0.99), wanted: wanted.p99 },
        { label: during("max"), unit: "ms", better: "lower", value: percentile(gaps, 1) },
        { label: "first token of that prefill", unit: "ms", better: "lower", value: firstTokenMs(long) },
        { label: "until all of them end", unit: "s", better: "lower", value: total / 1000, wanted: wanted.total },
      ] satisfies Figure[];
    },
  };
}
