// Which backend answers a request: the one whose model it names.

import { SvcError } from "../domain/errors.ts";
import type { ListedModel } from "../domain/model.ts";
import type { EnginePort } from "../engine/text/port.ts";

/** What computes one model. */
export interface Backend {
  /** The model's name in answers. */
  readonly model: string;
  readonly engine: EnginePort;
  /** Generations that run at once; as many as `--max-queue` says may wait beyond these. */
  readonly parallel: number;
  /** true: pictures and sound go to it as the client sent them, and what they are is its own affair. */
  readonly takesMediaSources?: boolean;
}

/** Backends with something in common: the engine here, other servers, a cluster. */
export interface ModelSource {
  /** What this source lists, in a stable order. */
  models(): readonly ListedModel[];
  /** The backend of a model by its name; undefined when this source does not know it. The same object at every call. */
  find(model: string): Backend | undefined;
  /** Somebody wants the list: looks in the background whether it is still right. */
  refresh?(): void;
}

export class ModelRouter {
  /**
   * Sources are asked in their order. `active` answers requests that name no model, or one that nobody knows; without it
   * the first model of the list that can chat answers the former, and the latter are refused.
   */
  constructor(
    private readonly sources: readonly ModelSource[],
    private readonly active?: Backend,
  ) {}

  /** Throws SvcError `model_not_found`, or `upstream_unavailable` when there is no model at all. */
  route(model?: string): Backend {
    const found = model === undefined ? this.active : this.find(model);
    if (found ?? this.active) return (found ?? this.active) as Backend;
    if (model !== undefined) {
      throw new SvcError("model_not_found", "'model' names no model of this server; GET /v1/models lists them.", {
        param: "model",
      });
    }
    const backend = this.usual();
    if (backend) return backend;
    throw new SvcError("upstream_unavailable", "No model is served here at the moment.", { retryAfterSeconds: 5 });
  }

  /** What answers requests that name no model; undefined when there is nothing at the moment. */
  usual(): Backend | undefined {
    if (this.active) return this.active;
    const first = this.models().find(({ capabilities }) => capabilities.includes("chat"));
    return first && this.find(first.id);
  }

  /**
   * The models of all sources, each name once: what is loaded comes first. `computedHere` leaves out those of other
   * servers: the list for another svc, which would offer them a second time.
   */
  models(computedHere = false): ListedModel[] {
    const byName = new Map<string, ListedModel>();
    for (const model of this.sources.flatMap((source) => source.models())) {
      if (!byName.has(model.id) && !(computedHere && (model.remote || model.everywhere))) byName.set(model.id, model);
    }
    return [...byName.values()].toSorted((a, b) => Number(b.loaded) - Number(a.loaded));
  }

  /** Somebody wants the list: sources that may be out of date look again, for the next time. */
  refresh(): void {
    for (const source of this.sources) source.refresh?.();
  }

  private find(model: string): Backend | undefined {
    for (const source of this.sources) {
      const backend = source.find(model);
      if (backend) return backend;
    }
    return undefined;
  }
}
