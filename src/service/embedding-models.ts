// The models for vectors and rankings, as a source of the router: they are listed, and generate nothing.

import type { ListedModel } from "../domain/model.ts";
import type { EmbeddingService } from "./embeddings.ts";
import type { Backend, ModelSource } from "./model-router.ts";

export class EmbeddingModels implements ModelSource {
  constructor(private readonly embeddings: Pick<EmbeddingService, "models">) {}

  models(): readonly ListedModel[] {
    return this.embeddings.models().map(({ modelId, kind, created, state, maxTokens, model }) => ({
      id: modelId,
      created,
      ownedBy: "svc",
      loaded: state === "ready",
      capabilities: [kind === "embed" ? "embeddings" : "rerank"],
      ...(maxTokens !== undefined && { contextLength: maxTokens }),
      ...(model && { file: model }),
    }));
  }

  find(): Backend | undefined {
    return undefined;
  }
}
