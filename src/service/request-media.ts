// Loads the images and sounds that a request's messages refer to.

import { SvcError } from "../domain/errors.ts";
import type { ContentPart, GenerateRequest } from "../domain/generate.ts";
import type { ModelInfo } from "../domain/model.ts";
import type { MediaLimits } from "../media/limits.ts";
import { loadAll } from "../media/load-all.ts";

type MediaPart = Extract<ContentPart, { type: "media" }>;

/**
 * The request with its media; the same one when it has none. Throws SvcError `unsupported_media_input` when the model
 * cannot take a kind of them, `invalid_value` about a medium that cannot be loaded, or the signal's reason.
 */
export async function withMedia(
  request: GenerateRequest,
  model: Pick<ModelInfo, "vision" | "audio"> | undefined,
  limits: MediaLimits,
  signal: AbortSignal,
): Promise<GenerateRequest> {
  const parts = request.messages.flatMap(({ content }) => (typeof content === "string" ? [] : content.filter(isMedia)));
  if (parts.length === 0) return request;
  for (const { source, param } of parts) {
    // While it is loading nobody knows; the engine refuses then.
    if (!model || (source.kind === "image" ? model.vision : model.audio)) continue;
    const message = `'${param}': the loaded model takes no ${source.kind} input.`;
    throw new SvcError("unsupported_media_input", message, { param });
  }
  return { ...request, media: await loadAll(parts, limits, signal) };
}

const isMedia = (part: ContentPart): part is MediaPart => part.type === "media";
