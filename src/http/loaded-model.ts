// Returns the loaded model for routes that describe it.

import { SvcError } from "../domain/errors.ts";
import type { ModelInfo } from "../domain/model.ts";
import type { TextPort } from "../engine/text/port.ts";

/** Returns the model. Throws SvcError `engine_unavailable` while it loads, and `not_found` when there is none. */
export function loadedModel(engine: Pick<TextPort, "status">): ModelInfo {
  const { model, state } = engine.status();
  if (model) return model;
  if (state === "none")
    throw new SvcError("not_found", "The server was started without a model (--no-model), which this route describes.");
  throw new SvcError("engine_unavailable", "The model is still loading.", { retryAfterSeconds: 1 });
}
