// The models for vectors and rankings that are computed here, as a source of the router.

import type { ListedModel } from "../domain/model.ts";
import type { EmbeddingPort } from "../engine/embedding/port.ts";
import type { Backend, ModelSource, Served } from "./model-router.ts";

export class EmbeddingModels implements ModelSource {
  private readonly served: ReadonlyMap<string, Served>;

  /** `parallel`: requests to one of them that are in work at once. */
  constructor(
    private readonly engines: readonly EmbeddingPort[],
    parallel: number,
  ) {
    this.served = new Map(
      engines.map((engine) => {
        const { modelId: model, kind } = engine.status();
        const backend: Backend<EmbeddingPort> = { model, engine, parallel, subject: { kind: "embedding", model } };
        return [model, kind === "embed" ? { embeddings: backend } : { rerank: backend }];
      }),
    );
  }

  models(): readonly ListedModel[] {
    return this.engines.map((engine) => {
      const { modelId, kind, created, state, maxTokens, model } = engine.status();
      return {
        id: modelId,
        created,
        ownedBy: "svc",
        loaded: state === "ready",
        capabilities: [kind === "embed" ? "embeddings" : "rerank"],
        ...(maxTokens !== undefined && { contextLength: maxTokens }),
        ...(model && { file: model }),
      };
    });
  }

  find(model: string): Served | undefined {
    return this.served.get(model);
  }
}
