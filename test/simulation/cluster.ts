// Users of many replicas behind gateways: the real choice of replicas on a simulated clock. Replicas are reduced to
// what matters here: a queue of prompts, streams that slow each other down, and a prefix cache.

import { Replica } from "../../src/gateway/replica.ts";
import type { Attempt } from "../../src/gateway/attempt.ts";
import { Upstream } from "../../src/gateway/upstream.ts";
import { randomNumbers } from "../support/dice.ts";
import { EventQueue } from "./event-queue.ts";

export type Policy = "affinity" | "rotation" | "least loaded";

export interface ClusterLoad {
  readonly replicas: number;
  readonly users: number;
  readonly agents: number;
  readonly seconds: number;
  /** Gateways that do not know each other; a request uses any of them. */
  readonly gateways: number;
  /** Share of the replicas that fails per minute, one after another, losing their caches, for `OUTAGE_MS` each. */
  readonly failing: number;
  readonly policy: Policy;
}

export interface ClusterOutcome {
  readonly requests: number;
  /** Failures of replicas. */
  readonly outages: number;
  /** Share of prompt tokens found in a cache. */
  readonly hitRate: number;
  readonly firstTokenMs: readonly number[];
  /** Computed prompt tokens of the busiest replica, as a multiple of the mean. */
  readonly imbalance: number;
}

/** A large GPU with 8 B parameters, as in `machines.ts`. */
const PROMPT_TOKEN_MS = 0.085;
const STEP_MS = 6;
const STREAM_MS = 0.03;
const CACHE_TOKENS = 400_000;
const OUTAGE_MS = 30_000;

/** A kind of client: its conversations begin with a prefix that others share. */
interface Kind {
  readonly prefixes: number;
  readonly prefixTokens: number;
  readonly firstTokens: number;
  readonly turnTokens: number;
  readonly answerTokens: number;
  readonly pauseMs: number;
  readonly turns: number;
}
/** People using one of 20 assistants, and coding agents whose conversations begin with 40,000 tokens. */
const CHAT: Kind = {
  prefixes: 20,
  prefixTokens: 500,
  firstTokens: 150,
  turnTokens: 150,
  answerTokens: 200,
  pauseMs: 30_000,
  turns: 6,
};
const AGENT: Kind = {
  prefixes: 5,
  prefixTokens: 8000,
  firstTokens: 32_000,
  turnTokens: 1500,
  answerTokens: 150,
  pauseMs: 3000,
  turns: 20,
};

interface Conversation {
  readonly kind: Kind;
  readonly prefix: number;
  readonly key: number;
  turn: number;
  tokens: number;
}

/** The computation of a replica. */
class Machine {
  readonly cached = new Map<number, number>();
  private cachedTokens = 0;
  private freeAt = 0;
  computed = 0;
  streams = 0;
  failsUntil = 0;

  /** Returns when its first token comes, and how many tokens were cached. */
  prefill(
    now: number,
    { kind, prefix, key, tokens }: Conversation,
  ): { readonly firstAt: number; readonly hit: number } {
    const shared = this.take(-1 - prefix);
    const hit = shared + (shared > 0 ? this.take(key) : 0);
    this.keep(-1 - prefix, kind.prefixTokens);
    this.keep(key, tokens - kind.prefixTokens);
    this.computed += tokens - hit;
    const began = Math.max(now, this.freeAt);
    this.freeAt = began + STEP_MS + (tokens - hit) * PROMPT_TOKEN_MS;
    return { firstAt: this.freeAt, hit };
  }

  lose(now: number): void {
    this.cached.clear();
    this.cachedTokens = 0;
    this.freeAt = now;
    this.failsUntil = now + OUTAGE_MS;
  }

  private take(key: number): number {
    const tokens = this.cached.get(key) ?? 0;
    this.cached.delete(key);
    this.cachedTokens -= tokens;
    return tokens;
  }

  /** Adds the newest entry; the oldest ones are removed first. */
  private keep(key: number, tokens: number): void {
    this.cached.set(key, tokens);
    this.cachedTokens += tokens;
    for (const [oldest] of this.cached) {
      if (this.cachedTokens <= CACHE_TOKENS) return;
      this.take(oldest);
    }
  }
}

export function simulateCluster(load: ClusterLoad): ClusterOutcome {
  let now = 0;
  const clock = { now: () => now, wall: () => now };
  const dice = randomNumbers(7);
  const timeouts = { connectMs: 1, silenceMs: 1 };
  const machines = Array.from({ length: load.replicas }, () => new Machine());
  const gateways = Array.from({ length: load.gateways }, () => {
    const replicas = machines.map((_, at) => new Replica({ url: `http://replica-${at}` }, timeouts, clock));
    return new Upstream("up", replicas, true);
  });
  const events = new EventQueue();
  const firstTokenMs: number[] = [];
  let [requests, prompt, cached, turns] = [0, 0, 0, 0];

  const send = (conversation: Conversation) => {
    const upstream = gateways[Math.floor(dice() * gateways.length)] as Upstream;
    const tried = new Set<Replica>();
    const sentAt = now;
    requests++;
    for (;;) {
      const replica = choose(upstream, conversation, tried);
      const machine = replica && machines[upstream.replicas.indexOf(replica)];
      // All replicas are down: the client retries later.
      if (!replica || !machine) return events.at(now + 1000, () => send(conversation));
      if (machine.failsUntil > now) {
        replica.breaker.failed("request");
        replica.breaker.failed("request");
        tried.add(replica);
        continue;
      }
      return compute(replica, machine, replica.begin({ isOwn: true, isRetry: tried.size > 0 }), conversation, sentAt);
    }
  };

  const choose = (upstream: Upstream, { key }: Conversation, tried: Set<Replica>): Replica | undefined => {
    if (load.policy === "affinity") return upstream.choose("m", key, tried)?.replica;
    const well = upstream.replicas.filter((replica) => !tried.has(replica) && replica.breaker.state !== "open");
    if (load.policy === "rotation") return well[turns++ % well.length];
    return well.reduce<Replica | undefined>(
      (least, one) => (one.inFlight < (least?.inFlight ?? Infinity) ? one : least),
      undefined,
    );
  };

  const compute = (
    replica: Replica,
    machine: Machine,
    attempt: Attempt,
    conversation: Conversation,
    sentAt: number,
  ) => {
    const { kind } = conversation;
    const { firstAt, hit } = machine.prefill(now, conversation);
    prompt += conversation.tokens;
    cached += hit;
    machine.streams++;
    const stepMs = STEP_MS + STREAM_MS * machine.streams;
    events.at(firstAt, () => {
      replica.client.heardAt = now;
      firstTokenMs.push(now - sentAt);
      attempt.heard();
    });
    events.at(firstAt + kind.answerTokens * stepMs, () => {
      machine.streams--;
      attempt.finished({ promptTokens: 0, cachedTokens: 0, completionTokens: 0 });
      attempt.end();
      conversation.tokens += kind.answerTokens + kind.turnTokens;
      const next = ++conversation.turn < kind.turns ? conversation : begin(kind);
      events.at(now + kind.pauseMs * (0.5 + dice()), () => send(next));
    });
  };

  let conversations = 0;
  const begin = (kind: Kind): Conversation => ({
    kind,
    prefix: Math.floor(dice() * kind.prefixes) + (kind === AGENT ? CHAT.prefixes : 0),
    key: Bun.hash.xxHash32(String(++conversations)),
    turn: 0,
    tokens: kind.prefixTokens + kind.firstTokens,
  });
  for (const [kind, count] of [
    [CHAT, load.users],
    [AGENT, load.agents],
  ] as const) {
    for (let user = 0; user < count; user++) events.at(dice() * kind.pauseMs, () => send(begin(kind)));
  }
  // Drawn at random, a small share could mean no failure at all; a separate source of chance leaves everything else
  // unchanged.
  const outages = Math.round((load.replicas * load.failing * load.seconds) / 60);
  const chance = randomNumbers(11);
  for (let outage = 0; outage < outages; outage++) {
    const at = ((outage + 0.5) / outages) * load.seconds * 1000;
    events.at(at, () => machines[Math.floor(chance() * machines.length)]?.lose(now));
  }
  for (let next = events.next(); next && next.at <= load.seconds * 1000; next = events.next()) {
    now = next.at;
    next.act();
  }
  const computed = machines.map((machine) => machine.computed);
  const mean = computed.reduce((sum, one) => sum + one, 0) / computed.length;
  return { requests, outages, hitRate: cached / prompt, firstTokenMs, imbalance: Math.max(...computed) / mean };
}
