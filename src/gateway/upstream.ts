// Another server by its name, or several that have the same models: which of them a request goes to.

import { SvcError, retryAfterSeconds } from "../domain/errors.ts";
import { byAffinity } from "./prefix-key.ts";
import type { Replica } from "./replica.ts";
import type { RemoteModel } from "./server-description.ts";
import { traitsOf } from "./server-kind.ts";

/** A replica may have so many times the mean of requests under way before others take some of its conversations. */
const LOAD_BOUND = 1.25;
/** Below this, a replica is never too busy for its own conversations. */
const LEAST_BOUND = 2;

export class Upstream {
  constructor(
    readonly name: string,
    readonly replicas: readonly Replica[],
    /** Named by the operator: it counts also while nothing is heard of it. */
    readonly isConfigured: boolean,
  ) {}

  /** The models of all replicas, each once, in the order in which they are told. */
  models(): RemoteModel[] {
    const byId = new Map<string, RemoteModel>();
    for (const replica of this.replicas) {
      for (const model of replica.models ?? []) {
        const loaded = model.loaded && replica.isWell;
        const known = byId.get(model.id);
        if (!known) byId.set(model.id, { ...model, loaded });
        else if (loaded && !known.loaded) byId.set(model.id, { ...known, loaded });
      }
    }
    return [...byId.values()];
  }

  has(model: string): boolean {
    return this.replicas.some(({ models }) => models?.some(({ id }) => id === model));
  }

  /** Whether it has a model that gives vectors, or may: not every server says what its models are for. */
  mayEmbed(model: string): boolean {
    return this.replicas.some(({ models, kind }) => {
      const known = models?.find(({ id }) => id === model);
      return known !== undefined && (known.capabilities.includes("embeddings") || !traitsOf(kind).tellsCapabilities);
    });
  }

  /**
   * The replica for a request with this beginning: the key's own unless it has too much to do, then the one with the least.
   * Sick ones are asked only when no other is left and their pause is over. Throws SvcError `upstream_unavailable`.
   */
  choose(model: string, key: string, tried: ReadonlySet<Replica>): Replica {
    const having = this.replicas.filter(({ models }) => models?.some(({ id }) => id === model));
    // Nobody told of it: perhaps it is new there.
    const able = having.length > 0 ? having : this.replicas;
    const untried = able.filter((replica) => !tried.has(replica));
    const well = untried.filter(({ isWell }) => isWell);
    const trial = untried.filter(({ breaker }) => breaker.state === "half-open");
    const chosen = bounded(byAffinity(well.length > 0 ? well : trial, key));
    if (chosen) return chosen;
    const pauseMs = Math.min(...able.map(({ breaker }) => breaker.pauseMs));
    throw new SvcError("upstream_unavailable", "The server of this model cannot be reached.", {
      retryAfterSeconds: retryAfterSeconds(pauseMs),
    });
  }
}

function bounded([favourite, ...others]: readonly Replica[]): Replica | undefined {
  if (!favourite) return undefined;
  const all = [favourite, ...others];
  const total = all.reduce((sum, { inFlight }) => sum + inFlight, 0);
  const bound = Math.max(LEAST_BOUND, Math.ceil((LOAD_BOUND * (total + 1)) / all.length));
  if (favourite.inFlight < bound) return favourite;
  return all.reduce((least, replica) => (replica.inFlight < least.inFlight ? replica : least));
}
