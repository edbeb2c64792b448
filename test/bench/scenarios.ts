// What is measured: each scenario is one model, one pair of equal command lines and the rows measured on them.

import type { Tool } from "./engine-tools.ts";
import { batchedBench, llamaBench } from "./engine-tools.ts";
import type { BenchModel } from "./make-model.ts";
import type { Measurement } from "./measurement.ts";
import { agent } from "./rows/agent.ts";
import { aggregate } from "./rows/aggregate.ts";
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
import { queue } from "./rows/queue.ts";

export interface Scenario {
  readonly name: string;
  readonly model: BenchModel | "svc-mini" | "all-minilm";
  /** Tokens in the KV cache. */
  readonly ctx: number;
  readonly parallel: number;
  /** How each side lays out and keeps its KV cache, where that is not the usual way, and what else it is told. */
  readonly flags?: Readonly<Record<"svc" | "llama-server", string>>;
  readonly measurements: readonly Measurement[];
  /** Engine benchmarks of llama.cpp that run beside the servers. */
  readonly tools?: readonly Tool[];
  /** Time the start, and read resident memory after the measurements and an idle pause. */
  readonly ready?: boolean;
  readonly memory?: boolean;
  /** The row has no counterpart in llama-server. */
  readonly alone?: boolean;
}

const STREAMS = [1, 4, 8, 16, 32] as const;
const BATCHES = STREAMS.filter((streams) => streams >= 8);
const ENGINE_ALONE = { ratio: { "llama-bench": 0.98 } } as const;
const NO_LATER = { ratio: { "llama-server": 1 } } as const;
const FAN_OUT: FanOut = { requests: 16, shared: 3000, tail: 40, maxTokens: 16 };

/** llama-server with each request's cells apart, which computes faster. */
const APART = { svc: "", "llama-server": "--no-kv-unified" } as const;

const BURSTS = { rounds: 8, requests: 32, promptTokens: 80, maxTokens: 128 } as const;

export const SCENARIOS: readonly Scenario[] = [
  { name: "60m-bursts", model: "60m", ctx: 32_768, parallel: 32, measurements: [bursts(BURSTS)] },
  {
    name: "60m-bursts-unified",
    model: "60m",
    ctx: 32_768,
    parallel: 32,
    flags: { svc: "", "llama-server": "--kv-unified" },
    measurements: [bursts(BURSTS)],
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
    // One conversation may have the whole cache, and what was computed is kept.
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
    measurements: [embeddings({ inputs: 512, clients: 8, each: 32 })],
  },
];
