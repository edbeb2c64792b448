// An upstream: a named server, or several replicas with the same models. Chooses the replica for each request.

import { SvcError, retryAfterSeconds } from "../domain/errors.ts";
import type { MediaKind } from "../domain/media.ts";
import type { UpstreamStatus } from "../domain/upstream.ts";
import { affinity } from "./prefix-key.ts";
import type { Replica } from "./replica.ts";
import { lacksMedia, type RemoteModel } from "./server-description.ts";
import { traitsOf } from "./server-kind.ts";

/** A replica hands some of its conversations to others once its requests in flight exceed this multiple of the mean. */
const LOAD_BOUND = 1.25;
/** Below this number of requests, a replica is never too busy for its own conversations. */
const LEAST_BOUND = 2;
const FIRST_PAUSE_MS = 100;
/** Seconds after which clients may retry a drained upstream, because the operator's work takes a while. */
const DRAINED_RETRY_S = 30;

/**
 * Number of measured first tokens from which on a replica's usual time is known, and the maximum share of requests to
 * hedge.
 */
const LEAST_FIRST_TOKENS = 20;
const MOST_HEDGED = 0.05;

interface UpstreamOptions {
  /** Half of the milliseconds between the first two rounds through the replicas; later pauses double each time. */
  readonly firstPauseMs?: number;
  /** Whether requests whose first token takes longer than usual are also sent to a second replica. */
  readonly hedge?: boolean;
}

/** The replica chosen for a request. */
export interface Choice {
  readonly replica: Replica;
  /** Whether requests with this prefix go to this replica by default. */
  readonly isOwn: boolean;
}

export class Upstream {
  constructor(
    readonly name: string,
    public replicas: readonly Replica[],
    /** Whether the operator named it; if so, it is kept even while it does not respond. */
    readonly isConfigured: boolean,
    private options: UpstreamOptions = {},
  ) {}

  get firstPauseMs(): number {
    return this.options.firstPauseMs ?? FIRST_PAUSE_MS;
  }

  /** Returns the models of all replicas, each once, in the order listed, with the longest context of any replica. */
  models(): RemoteModel[] {
    const byId = new Map<string, RemoteModel>();
    for (const replica of this.replicas) {
      for (const model of replica.models ?? []) {
        const known = byId.get(model.id);
        const loaded = known?.loaded === true || (model.loaded && replica.isWell);
        const contextLength = Math.max(known?.contextLength ?? 0, model.contextLength ?? 0);
        byId.set(model.id, { ...(known ?? model), loaded, ...(contextLength > 0 && { contextLength }) });
      }
    }
    return [...byId.values()];
  }

  /**
   * Takes over the replicas and options of another upstream. Replicas that are the same servers keep their state; one
   * whose key changes keeps its models and whether it drains.
   */
  become({ replicas, options }: Upstream): void {
    const { replicas: known } = this;
    this.options = options;
    this.replicas = replicas.map((fresh) => {
      const same = known.find((one) => one.isAt(fresh.client.address));
      if (same) same.client.timeouts = fresh.client.timeouts;
      else fresh.takeOver(known.find(({ url }) => url === fresh.url));
      return same ?? fresh;
    });
  }

  /** Takes a replica, or all of them, out of service or back. Returns false when none has this URL. */
  setDraining(isDraining: boolean, url?: string): boolean {
    const meant = this.replicas.filter((replica) => url === undefined || replica.url === url);
    for (const replica of meant) replica.isDraining = isDraining;
    return meant.length > 0;
  }

  status(): UpstreamStatus {
    const { name, isConfigured } = this;
    return { name, isConfigured, replicas: this.replicas.map((replica) => replica.status()) };
  }

  /** Returns the status of an engine for one of the models, which has no process here. */
  engineStatus(modelId: string, running: number) {
    const state = this.replicas.some(({ isWell }) => isWell) ? ("ready" as const) : ("failed" as const);
    return { restarts: 0, waiting: 0, residentBytes: 0, state, modelId, running, created: 0 };
  }

  has(model: string): boolean {
    return this.replicas.some((replica) => replica.model(model));
  }

  /** Returns whether the model computes or may compute vectors: not every server reports the purpose of its models. */
  mayEmbed(model: string): boolean {
    return this.replicas.some((replica) => {
      const { capabilities = [] } = replica.model(model) ?? {};
      const mayHave = capabilities.length > 0 && !traitsOf(replica.kind).tellsCapabilities;
      return mayHave || capabilities.includes("embeddings");
    });
  }

  /** Returns whether all replicas that have the model report that it takes no media of this kind. */
  lacks(model: string, kind: MediaKind): boolean {
    const having = this.replicas.flatMap((replica) => replica.model(model) ?? []);
    return having.length > 0 && having.every((one) => lacksMedia(one, kind));
  }

  /** Returns the replicas that may get a request for the model. */
  having(model: string): readonly Replica[] {
    const having = this.replicas.filter((replica) => replica.model(model));
    // No replica lists the model, but it may be new there.
    return having.length > 0 ? having : this.replicas;
  }

  /** Returns the replicas whose context for the model is not known to be longer than this one's. */
  withContextUpTo(model: string, replica: Replica): Replica[] {
    const length = replica.model(model)?.contextLength ?? Infinity;
    return this.replicas.filter((other) => (other.model(model)?.contextLength ?? 0) <= length);
  }

  /**
   * Returns the replica for a request with this prefix key: the key's own replica unless it is too busy, then the least
   * busy one. A sick replica whose pause is over comes first if only a request can show whether it has recovered; slow
   * replicas, and those that refuse svc's key, are chosen only when no other is left, and draining ones never. Returns
   * undefined when no replica can be tried now.
   */
  choose(model: string, key: number, tried: ReadonlySet<Replica>): Choice | undefined {
    const having = this.having(model);
    const suits = ({ url }: Replica) => affinity(url, key);
    let best = Infinity;
    let candidates: Replica[] = [];
    for (const replica of having) {
      const preference = replica.isDraining || tried.has(replica) ? Infinity : preferenceOf(replica);
      if (preference < best) [best, candidates] = [preference, []];
      if (preference === best && best < Infinity) candidates.push(replica);
    }
    if (candidates.length === 0) return undefined;
    const replica = bounded(candidates, highest(candidates, suits));
    return { replica, isOwn: replica === highest(having, suits) };
  }

  /**
   * Returns the milliseconds without a first token from the replica after which another also gets the request: its
   * recent 99th percentile. Undefined: hedging is off, the usual time is unknown, or more hedging would only add load.
   */
  hedgeAfterMs({ stats }: Replica): number | undefined {
    if (!this.options.hedge || this.replicas.length < 2 || stats.firstTokens.count < LEAST_FIRST_TOKENS)
      return undefined;
    const sum = (of: "hedges" | "requests") => this.replicas.reduce((all, replica) => all + replica.stats[of], 0);
    return sum("hedges") < MOST_HEDGED * sum("requests") ? stats.firstTokens.quantile(0.99) : undefined;
  }

  /** Returns the error to report while replicas are paused after failures. */
  unavailable(model: string): SvcError {
    const serving = this.having(model).filter(({ isDraining }) => !isDraining);
    if (serving.length === 0) return drained();
    const pauseMs = Math.min(...serving.map(({ breaker }) => breaker.pauseMs));
    const message = "The server of this model failed several times in a row and gets no requests at the moment.";
    return new SvcError("upstream_unavailable", message, { retryAfterSeconds: retryAfterSeconds(pauseMs) });
  }
}

function drained(): SvcError {
  const message = "The server of this model is taken out of service by its operator (drained).";
  return new SvcError("upstream_unavailable", message, { retryAfterSeconds: DRAINED_RETRY_S });
}

/** Returns the rank of a replica; the lowest is chosen, and Infinity never. */
function preferenceOf({ isWell, isSlow, refusedLately, breaker }: Replica): number {
  if (isWell) return isSlow || refusedLately ? 1 : 0;
  if (breaker.state === "open") return Infinity;
  return breaker.remedy === "request" ? -1 : 2;
}

function bounded(all: readonly Replica[], favourite: Replica): Replica {
  const total = all.reduce((sum, { inFlight }) => sum + inFlight, 0);
  const bound = Math.max(LEAST_BOUND, Math.ceil((LOAD_BOUND * (total + 1)) / all.length));
  return favourite.inFlight < bound ? favourite : highest(all, ({ inFlight }) => -inFlight);
}

/** Returns the replica with the highest score; of several, the first. */
function highest(all: readonly Replica[], scoreOf: (replica: Replica) => number): Replica {
  let [best] = all as [Replica];
  let bestScore = scoreOf(best);
  for (const replica of all) {
    const score = scoreOf(replica);
    if (score > bestScore) [best, bestScore] = [replica, score];
  }
  return best;
}
