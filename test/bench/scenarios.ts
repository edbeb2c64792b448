// What is measured: each scenario is one model, one pair of equal command lines and the measurements made on them.

import type { ChatResult } from "./client.ts";
import { streamChat } from "./client.ts";
import type { BenchModel } from "./make-model.ts";
import type { PromptSource } from "./prompts.ts";
import { median, percentile } from "./stats.ts";

export interface Figure {
  readonly label: string;
  readonly unit: "ms" | "tok/s" | "MB";
  readonly better: "higher" | "lower";
  readonly value: number;
}

export interface Measurement {
  /** What `--rows` selects by. */
  readonly id: string;
  run(port: number, prompts: PromptSource): Promise<readonly Figure[]>;
}

export interface Scenario {
  readonly name: string;
  readonly model: BenchModel | "svc-mini";
  /** Tokens in the KV cache. */
  readonly ctx: number;
  readonly parallel: number;
  readonly measurements: readonly Measurement[];
  /** Read resident memory after the measurements and an idle pause. */
  readonly memory: boolean;
}

const STREAMS = [1, 4, 8, 16, 32] as const;

export const SCENARIOS: readonly Scenario[] = [
  {
    name: "svc-mini",
    model: "svc-mini",
    ctx: 4096,
    parallel: 4,
    memory: false,
    measurements: [decode(256), constrained(256)],
  },
  {
    name: "0.6b",
    model: "0.6b",
    ctx: 16_384,
    parallel: 32,
    memory: true,
    measurements: [
      firstToken(128, 3),
      decode(96),
      constrained(48),
      ...STREAMS.map((streams) => aggregate(streams, 64, 64)),
    ],
  },
  {
    name: "60m",
    model: "60m",
    ctx: 16_384,
    parallel: 32,
    memory: false,
    measurements: [decode(256), constrained(128), ...STREAMS.map((streams) => aggregate(streams, 64, 128))],
  },
  {
    name: "60m-long",
    model: "60m",
    ctx: 65_536,
    parallel: 8,
    memory: false,
    measurements: [firstToken(4096, 2), decodeGaps(4, 6000)],
  },
];

const firstTokenMs = (result: ChatResult): number => (result.tokens[0] ?? NaN) - result.started;

/** Time to the first token of one request on an idle server. */
function firstToken(promptTokens: number, repeats: number): Measurement {
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

/** Decode rate of a single stream, prefill left out. */
function decode(tokens: number): Measurement {
  return {
    id: "decode",
    async run(port, prompts) {
      const fields = { ignore_eos: true };
      const result = await streamChat(port, { prompt: prompts.next(32), maxTokens: tokens, fields });
      // From the first token to the end of the stream: a server that coalesces tokens gains nothing by it.
      const value = ((tokens - 1) / (result.ended - (result.tokens[0] ?? NaN))) * 1000;
      return [{ label: "decode, 1 stream", unit: "tok/s", better: "higher", value }];
    },
  };
}

/** A schema whose answers are longer than any limit here, so that the model's taste decides nothing. */
const ENDLESS = {
  type: "array",
  items: {
    type: "object",
    properties: { name: { type: "string" }, age: { type: "integer" } },
    required: ["name", "age"],
  },
  minItems: 500,
};

/** Rate of a single stream that a JSON schema constrains, prefill included. */
function constrained(tokens: number): Measurement {
  return {
    id: "constrained",
    async run(port, prompts) {
      const fields = {
        response_format: { type: "json_schema", json_schema: { name: "people", strict: true, schema: ENDLESS } },
        chat_template_kwargs: { enable_thinking: false },
      };
      const result = await streamChat(port, { prompt: prompts.next(32), maxTokens: tokens, fields });
      // White space before the JSON is no content: the first token may show late.
      const value = (tokens / (result.ended - result.started)) * 1000;
      return [{ label: "end to end under a schema, 1 stream", unit: "tok/s", better: "higher", value }];
    },
  };
}

/** Generated tokens a second over streams that start together, from the first request to the last token. */
function aggregate(streams: number, promptTokens: number, tokens: number): Measurement {
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
      const wait = median(results.map(firstTokenMs));
      return streams < 8
        ? [rate]
        : [rate, { label: `first token, ${named}`, unit: "ms", better: "lower", value: wait }];
    },
  };
}

/** Gaps in running streams while another client's long prompt is computed. */
function decodeGaps(streams: number, promptTokens: number): Measurement {
  return {
    id: "gaps",
    async run(port, prompts) {
      const decoding = Array.from({ length: streams }, () =>
        streamChat(port, { prompt: prompts.next(32), maxTokens: 700 }),
      );
      await Bun.sleep(400);
      const long = await streamChat(port, { prompt: prompts.next(promptTokens), maxTokens: 2 });
      const results = await Promise.all(decoding);
      const until = long.tokens[0] ?? NaN;
      const gaps = results.flatMap(({ tokens }) =>
        tokens.slice(1).flatMap((time, index) => {
          const before = tokens[index] ?? NaN;
          return time > long.started && before < until ? [time - before] : [];
        }),
      );
      const label = (name: string) => `gap of ${streams} streams during a prefill of ${promptTokens}, ${name}`;
      const gap = (name: string, value: number): Figure => ({ label: label(name), unit: "ms", better: "lower", value });
      return [
        gap("p50", percentile(gaps, 0.5)),
        gap("p99", percentile(gaps, 0.99)),
        gap("max", percentile(gaps, 1)),
        { label: `first token of that prefill`, unit: "ms", better: "lower", value: firstTokenMs(long) },
      ];
    },
  };
}
