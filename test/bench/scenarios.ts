// The scenarios: each has a model, a pair of equivalent command lines, and the rows measured with them.

import type { Tool } from "./engine-tools.ts";
import { batchedBench, llamaBench } from "./engine-tools.ts";
import type { BenchModel } from "./make-model.ts";
import type { Measurement } from "./measurement.ts";
import { agent } from "./rows/agent.ts";
import { aggregate, uneven } from "./rows/aggregate.ts";
import { bursts } from "./rows/bursts.ts";
import { constrained } from "./rows/constrained.ts";
import { decode } from "./rows/decode.ts";
import { edit } from "./rows/edit.ts";
import { embeddings } from "./rows/embeddings.ts";
import { extraction } from "./rows/extraction.ts";
import { fairness } from "./rows/fairness.ts";
import { fanOut, warmFanOut, type FanOut } from "./rows/fan-out.ts";
import { firstToken } from "./rows/first-token.ts";
import { gap } from "./rows/gap.ts";
import { leave } from "./rows/leave.ts";
import { multiplex } from "./rows/multiplex.ts";
import { overflow } from "./rows/overflow.ts";
import { prose } from "./rows/prose.ts";
import { queue } from "./rows/queue.ts";
import { repeated } from "./rows/repeated.ts";

export interface Scenario {
  readonly name: string;
  readonly model: BenchModel | "svc-mini" | "smollm2" | "all-minilm";
  /** Tokens in the KV cache. */
  readonly ctx: number;
  readonly parallel: number;
  /** Options of each program for the KV cache and other settings, when they differ from the defaults. */
  readonly flags?: Readonly<Record<"svc" | "llama-server", string>>;
  readonly measurements: readonly Measurement[];
  /** Engine benchmarks of llama.cpp to run in addition to the servers. */
  readonly tools?: readonly Tool[];
  /** Whether to time the start, and to read resident memory after the measurements and an idle pause. */
  readonly ready?: boolean;
  readonly memory?: boolean;
  /** Whether the row has no counterpart in llama-server. */
  readonly alone?: boolean;
  /** Options with which svc is measured in addition, each compared with the others. */
  readonly otherwise?: readonly `--${string}`[];
  /** Whether the first requests are measured, too. */
  readonly cold?: boolean;
}

const STREAMS = [1, 4, 8, 16, 32] as const;
const BATCHES = STREAMS.filter((streams) => streams >= 8);
const ENGINE_ALONE = { ratio: { "llama-bench": 0.98 } } as const;
const NO_LATER = { ratio: { "llama-server": 1 } } as const;
const FAN_OUT: FanOut = { requests: 16, shared: 3000, tail: 40, maxTokens: 16 };

/** llama-server with separate cells for each request, which is faster. */
const APART = { svc: "", "llama-server": "--no-kv-unified" } as const;

const BURSTS = { rounds: 8, requests: 32, promptTokens: 80, maxTokens: 128 } as const;

/** One to many concurrent requests, short to long: the best layout of the KV cache differs among them. */
const LOADS = [
  { id: "1x200", rounds: 8, requests: 1, promptTokens: 100, maxTokens: 100 },
  { id: "8x1k", rounds: 2, requests: 8, promptTokens: 900, maxTokens: 100 },
  { id: "32x200", rounds: 5, requests: 32, promptTokens: 100, maxTokens: 100 },
  { id: "32x1k", rounds: 1, requests: 32, promptTokens: 900, maxTokens: 100 },
  { id: "2x8k", rounds: 1, requests: 2, promptTokens: 7_900, maxTokens: 100 },
] as const;
const NO_LAYOUT_BETTER = {
  ratio: { "--kv-mode paged": 0.95, "--kv-mode unified": 0.95, "--kv-mode streams": 0.95 },
} as const;

export const SCENARIOS: readonly Scenario[] = [
  { name: "60m-bursts", model: "60m", ctx: 32_768, parallel: 32, cold: true, measurements: [bursts(BURSTS)] },
  {
    name: "60m-bursts-unified",
    model: "60m",
    ctx: 32_768,
    parallel: 32,
    flags: { svc: "", "llama-server": "--kv-unified" },
    cold: true,
    measurements: [bursts(BURSTS)],
  },
  {
    name: "60m-rounds",
    model: "60m",
    ctx: 32_768,
    parallel: 32,
    cold: true,
    otherwise: ["--no-prefix-cache"],
    measurements: [bursts({ ...BURSTS, rounds: 50 }, { ratio: { "--no-prefix-cache": 0.98 } })],
  },
  ...(["60m", "0.6b"] as const).map((model): Scenario => {
    const loads = LOADS.map((load) => bursts(load, NO_LAYOUT_BETTER));
    const otherwise = (["paged", "unified", "streams"] as const).map((mode) => `--kv-mode ${mode}` as const);
    return { name: `${model}-layouts`, model, ctx: 32_768, parallel: 32, otherwise, measurements: loads, alone: true };
  }),
  {
    name: "60m-repeated",
    model: "60m",
    ctx: 32_768,
    parallel: 16,
    measurements: [repeated([20, 60, 200, 1000], [0, 4])],
    alone: true,
  },
  {
    name: "svc-mini",
    model: "svc-mini",
    ctx: 4096,
    parallel: 4,
    ready: true,
    measurements: [decode(256), constrained(256)],
  },
  {
    name: "0.6b",
    model: "0.6b",
    ctx: 16_384,
    parallel: 32,
    ready: true,
    memory: true,
    measurements: [
      firstToken(128, 3),
      decode(96, ENGINE_ALONE),
      constrained(48),
      ...STREAMS.map((streams) => aggregate(streams, 64, 64, { ratio: { "llama-batched-bench": 0.95 } })),
    ],
    tools: [llamaBench(32, 96), batchedBench(BATCHES, 64, 64)],
  },
  {
    name: "60m",
    model: "60m",
    ctx: 16_384,
    parallel: 32,
    ready: true,
    measurements: [
      decode(256, ENGINE_ALONE),
      constrained(128),
      ...STREAMS.map((streams) => aggregate(streams, 64, 128, { ratio: { "llama-batched-bench": 0.9 } })),
      uneven(32, 64, 16, 512),
    ],
    tools: [llamaBench(32, 256), batchedBench(BATCHES, 64, 128)],
  },
  {
    name: "60m-long",
    model: "60m",
    ctx: 65_536,
    parallel: 8,
    measurements: [
      firstToken(4096, 2),
      gap(4, 4500, {
        p99: { value: 100, ratio: { "llama-server": 20 } },
        total: { ratio: { "llama-server": 1 / 1.15 } },
      }),
      leave(),
      fairness({ requests: 64, promptTokens: 128, maxTokens: 128 }),
    ],
  },
  {
    name: "60m-shared",
    model: "60m",
    ctx: 65_536,
    parallel: 16,
    flags: APART,
    measurements: [fanOut(FAN_OUT, { ratio: { "llama-server": 6 } }), warmFanOut(FAN_OUT, NO_LATER)],
  },
  {
    name: "60m-agent",
    model: "60m",
    ctx: 32_768,
    parallel: 4,
    // One conversation may use the whole cache, and computed tokens stay cached.
    flags: { svc: "", "llama-server": "--kv-unified" },
    measurements: [agent(NO_LATER)],
  },
  {
    name: "svc-mini-tasks",
    model: "svc-mini",
    ctx: 8192,
    parallel: 8,
    measurements: [extraction(8, 12, { ratio: { "llama-server": 1.3 } }), edit({ ratio: { "llama-server": 1.3 } })],
  },
  {
    name: "smollm2-tasks",
    model: "smollm2",
    ctx: 8192,
    parallel: 8,
    otherwise: ["--no-speculation"],
    measurements: [
      extraction(8, 12, NO_LATER),
      edit({ ratio: { "--no-speculation": 1, "llama-server": 1.3 } }),
      prose({ ratio: { "--no-speculation": 0.97 } }),
      constrained(128, { value: 0.95 }),
    ],
  },
  {
    name: "60m-overflow",
    model: "60m",
    ctx: 2048,
    parallel: 4,
    flags: { svc: "", "llama-server": "--kv-unified" },
    measurements: [overflow([900, 900, 900, 300])],
  },
  {
    name: "60m-multiplex",
    model: "60m",
    ctx: 16_384,
    parallel: 16,
    measurements: [multiplex({ requests: 64, promptTokens: 64, maxTokens: 64 })],
  },
  {
    name: "svc-mini-multiplex",
    model: "svc-mini",
    ctx: 16_384,
    parallel: 16,
    measurements: [multiplex({ requests: 64, promptTokens: 64, maxTokens: 64 })],
  },
  {
    name: "60m-queue",
    model: "60m",
    ctx: 16_384,
    parallel: 4,
    flags: { svc: "--max-queue 16", "llama-server": "" },
    measurements: [queue({ requests: 300, maxTokens: 512 })],
    alone: true,
  },
  {
    name: "all-minilm",
    model: "all-minilm",
    ctx: 16_384,
    parallel: 64,
    cold: true,
    measurements: [embeddings({ inputs: 512, clients: 8, each: 32 })],
  },
];
