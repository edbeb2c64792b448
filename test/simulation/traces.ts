// Synthetic loads: which client sends what, and when. The same seed gives the same trace.

import type { AdapterSet } from "../../src/domain/adapters.ts";
import { randomNumbers } from "../support/dice.ts";

export interface Arrival {
  /** Milliseconds from the start. */
  readonly at: number;
  readonly client: string;
  readonly prompt: readonly number[];
  readonly maxTokens: number;
  readonly background?: boolean;
  readonly adapters?: AdapterSet;
  /** Disconnects after this many milliseconds, finished or not. */
  readonly disconnectsAfter?: number;
  /** The client's next requests: the conversation continues with this many tokens, after a pause. */
  readonly followUp?: { readonly turns: number; readonly tokens: number; readonly pauseMs: number };
}

export interface Trace {
  readonly name: string;
  readonly arrivals: readonly Arrival[];
}

const tokens = (length: number, from: number) =>
  Array.from({ length: Math.max(1, Math.round(length)) }, (_, at) => from + at);
const exponential = (random: () => number, mean: number) => -mean * Math.log(1 - random());

/** People who chat, arriving at random: a shared system prompt and their own questions. */
export function chat(users: number, meanGapMs: number, seed = 1): Trace {
  const random = randomNumbers(seed);
  const system = tokens(200, 1);
  let at = 0;
  const arrivals = Array.from({ length: users }, (_, user): Arrival => {
    at += exponential(random, meanGapMs);
    const question = tokens(20 + exponential(random, 100), 1_000 * (user + 10));
    return {
      at,
      client: `user ${user}`,
      prompt: [...system, ...question],
      maxTokens: Math.ceil(10 + exponential(random, 120)),
    };
  });
  return { name: `${users} people chat`, arrivals };
}

/** Coding agents: long prompts with shared prefixes that grow with each turn. */
export function agents(count: number, prefix: number, turns: number, seed = 2): Trace {
  const random = randomNumbers(seed);
  const common = tokens(prefix * 0.8, 1);
  const arrivals = Array.from({ length: count }, (_, agent): Arrival => ({
    at: exponential(random, 2_000),
    client: `agent ${agent}`,
    prompt: [...common, ...tokens(prefix * 0.2, 10_000_000 * (agent + 1))],
    maxTokens: 150,
    followUp: { turns, tokens: 800, pauseMs: 1_500 },
  }));
  return { name: `${count} agents, ${prefix} tokens`, arrivals };
}

/** A flood by one client at the start, and people who chat next to it. */
export function flood(jobs: number, users: number, seed = 3): Trace {
  const batch = Array.from({ length: jobs }, (_, job): Arrival => ({
    at: 0,
    client: "batch",
    prompt: tokens(400, 5_000_000 + 1_000 * job),
    maxTokens: 200,
  }));
  const people = chat(users, 2_000, seed).arrivals;
  return { name: `${jobs} jobs of one client, ${users} people`, arrivals: [...batch, ...people] };
}

/** The same load with the flood in the background. */
export function backgroundFlood(jobs: number, users: number, seed = 3): Trace {
  const arrivals = flood(jobs, users, seed).arrivals.map((arrival) =>
    arrival.client === "batch" ? { ...arrival, background: true } : arrival,
  );
  return { name: `${jobs} jobs in the background, ${users} people`, arrivals };
}

/** Long documents of several clients, people who chat, and equally long documents in the background. */
export function documents(readers: number, users: number, background: number, seed = 5): Trace {
  const document = (client: string, at: number, from: number): Arrival => ({
    at,
    client,
    prompt: tokens(1_500, from),
    maxTokens: 30,
  });
  const foreground = Array.from({ length: readers }, (_, at) =>
    document(`reader ${at}`, 1_000 + 50 * at, 20_000_000 + 10_000 * at),
  );
  const batch = Array.from({ length: background }, (_, at) => ({
    ...document("batch", 10 * at, 30_000_000 + 10_000 * at),
    background: true,
  }));
  const arrivals = [...foreground, ...chat(users, 500, seed).arrivals, ...batch];
  return { name: `${readers} long documents, ${users} people, ${background} in the background`, arrivals };
}

/** People who disconnect at any moment. */
export function disconnects(users: number, seed = 4): Trace {
  const random = randomNumbers(seed);
  const arrivals = chat(users, 50, seed).arrivals.map((arrival) => ({
    ...arrival,
    disconnectsAfter: exponential(random, 1_500),
  }));
  return { name: `${users} people who disconnect`, arrivals };
}

/** Returns the same load, with clients that in turn use no adapter, one, another, and both. */
export function adapted(trace: Trace): Trace {
  const sets: AdapterSet[] = [[], [{ id: 0, scale: 1 }], [{ id: 1, scale: 1 }], [0, 1].map((id) => ({ id, scale: 1 }))];
  const clients = [...new Set(trace.arrivals.map(({ client }) => client))];
  const arrivals = trace.arrivals.map((arrival): Arrival => {
    const adapters = sets[clients.indexOf(arrival.client) % sets.length] ?? [];
    return { ...arrival, adapters };
  });
  return { name: `${trace.name}, with adapters`, arrivals };
}
