// Another server by its name, or several that have the same models: which of them a request goes to.

import { SvcError, retryAfterSeconds } from "../domain/errors.ts";
import type { MediaKind } from "../domain/media.ts";
import type { UpstreamStatus } from "../domain/upstream.ts";
import { affinity } from "./prefix-key.ts";
import type { Replica } from "./replica.ts";
import { lacksMedia, type RemoteModel } from "./server-description.ts";
import { traitsOf } from "./server-kind.ts";

/** A replica may have so many times the mean of requests under way before others take some of its conversations. */
const LOAD_BOUND = 1.25;
/** Below this, a replica is never too busy for its own conversations. */
const LEAST_BOUND = 2;
const FIRST_PAUSE_MS = 100;
/** When clients may come back to what is drained: such work takes a while. */
const DRAINED_RETRY_S = 30;

/** What an engine says of itself that has no process here. */
export const processless = { restarts: 0, waiting: 0, residentBytes: 0 } as const;

/** First tokens of a replica from which on it is known what is usual, and the share of its requests that may be hedged. */
const LEAST_FIRST_TOKENS = 20;
const MOST_HEDGED = 0.05;

interface UpstreamOptions {
  /** Half of the pause between the first two rounds through its replicas; each further one is twice as long. */
  readonly firstPauseMs?: number;
  /** Requests whose first token takes longer than usual are sent to a second replica as well. */
  readonly hedge?: boolean;
}

/** The replica that a request goes to. */
export interface Choice {
  readonly replica: Replica;
  /** It is the one to which requests with this beginning go while nothing is in the way. */
  readonly isOwn: boolean;
}

export class Upstream {
  constructor(
    readonly name: string,
    public replicas: readonly Replica[],
    /** Named by the operator: it counts also while nothing is heard of it. */
    readonly isConfigured: boolean,
    private options: UpstreamOptions = {},
  ) {}

  get firstPauseMs(): number {
    return this.options.firstPauseMs ?? FIRST_PAUSE_MS;
  }

  /** The models of all replicas, each once, in the order in which they are told; its context is the longest that one has. */
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

  /** Becomes another; replicas that are the same servers stay, with all that is known of them. */
  become({ replicas, options }: Upstream): void {
    const { replicas: known } = this;
    this.options = options;
    this.replicas = replicas.map((fresh) => {
      const same = known.find((one) => one.isAt(fresh.client.address));
      if (same) same.client.timeouts = fresh.client.timeouts;
      return same ?? fresh;
    });
  }

  /** Takes a replica out of service or back, or all of them. False when none has this address. */
  setDraining(isDraining: boolean, url?: string): boolean {
    const meant = this.replicas.filter((replica) => url === undefined || replica.url === url);
    for (const replica of meant) replica.isDraining = isDraining;
    return meant.length > 0;
  }

  status(): UpstreamStatus {
    const { name, isConfigured } = this;
    return { name, isConfigured, replicas: this.replicas.map((replica) => replica.status()) };
  }

  has(model: string): boolean {
    return this.replicas.some((replica) => replica.model(model));
  }

  /** Whether it has a model that gives vectors, or may: not every server says what its models are for. */
  mayEmbed(model: string): boolean {
    return this.replicas.some((replica) => {
      const { capabilities = [] } = replica.model(model) ?? {};
      const mayHave = capabilities.length > 0 && !traitsOf(replica.kind).tellsCapabilities;
      return mayHave || capabilities.includes("embeddings");
    });
  }

  /** Whether all that have the model say that it takes no media of this kind. */
  lacks(model: string, kind: MediaKind): boolean {
    const having = this.replicas.flatMap((replica) => replica.model(model) ?? []);
    return having.length > 0 && having.every((one) => lacksMedia(one, kind));
  }

  /** The replicas that a request for the model may go to. */
  having(model: string): readonly Replica[] {
    const having = this.replicas.filter((replica) => replica.model(model));
    // Nobody told of it: perhaps it is new there.
    return having.length > 0 ? having : this.replicas;
  }

  /** The replicas of which it is not known that their context of the model is longer than this one's. */
  noLonger(model: string, replica: Replica): Replica[] {
    const length = replica.model(model)?.contextLength ?? Infinity;
    return this.replicas.filter((other) => (other.model(model)?.contextLength ?? 0) <= length);
  }

  /**
   * The replica for a request with this beginning: the key's own unless it has too much to do, then the one with the least.
   * A sick one whose pause is over goes first where a request alone can show whether it is well; slow ones, and those that refuse
   * svc's key, are chosen when no other is left, and draining ones never.
   * Undefined when there is none to ask now.
   */
  choose(model: string, key: number, tried: ReadonlySet<Replica>): Choice | undefined {
    const having = this.having(model);
    const suits = ({ urlHash }: Replica) => affinity(urlHash, key);
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
   * Milliseconds without a first token from the replica after which another gets the request as well: what 99 of 100 of its last
   * requests took. Undefined: never, as so many were hedged already that more would be load, not luck.
   */
  hedgeAfterMs({ stats }: Replica): number | undefined {
    if (!this.options.hedge || this.replicas.length < 2 || stats.firstTokens.count < LEAST_FIRST_TOKENS)
      return undefined;
    const sum = (of: "hedges" | "requests") => this.replicas.reduce((all, replica) => all + replica.stats[of], 0);
    return sum("hedges") < MOST_HEDGED * sum("requests") ? stats.firstTokens.quantile(0.99) : undefined;
  }

  /** What is told while replicas are left alone after failures. */
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

/** Those with the lowest number are asked; Infinity: never. */
function preferenceOf({ isWell, isSlow, isRefusing, breaker }: Replica): number {
  if (isWell) return isSlow || isRefusing ? 1 : 0;
  if (breaker.state === "open") return Infinity;
  return breaker.remedy === "request" ? -1 : 2;
}

function bounded(all: readonly Replica[], favourite: Replica): Replica {
  const total = all.reduce((sum, { inFlight }) => sum + inFlight, 0);
  const bound = Math.max(LEAST_BOUND, Math.ceil((LOAD_BOUND * (total + 1)) / all.length));
  return favourite.inFlight < bound ? favourite : highest(all, ({ inFlight }) => -inFlight);
}

/** Of several with the same score the first. */
function highest(all: readonly Replica[], scoreOf: (replica: Replica) => number): Replica {
  let [best] = all as [Replica];
  let bestScore = scoreOf(best);
  for (const replica of all) {
    const score = scoreOf(replica);
    if (score > bestScore) [best, bestScore] = [replica, score];
  }
  return best;
}
