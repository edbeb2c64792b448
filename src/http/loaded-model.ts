// The loaded model, for routes that describe it.

import { SvcError } from "../domain/errors.ts";
import type { ModelInfo } from "../domain/model.ts";
import type { EnginePort } from "../engine/port.ts";

/** Throws SvcError `engine_unavailable` while it loads. */
export function loadedModel(engine: Pick<EnginePort, "status">): ModelInfo {
  const { model } = engine.status();
  if (model) return model;
  throw new SvcError("engine_unavailable", "The model is still loading.", { retryAfterSeconds: 1 });
}
