// The settings of a live session, and the changes that its client may make.

import { fieldError, SvcError } from "../../domain/errors.ts";
import { USUAL_TURNS, type LiveChanges, type LiveSettings } from "../../domain/live.ts";
import type { TranscriptionService } from "../transcriptions.ts";

type Models = Pick<TranscriptionService, "model">;

/** Returns the default settings. Throws SvcError `engine_unavailable` when there is no transcription model. */
export function usualSettings(model: string | undefined, models: Models): LiveSettings {
  const { name, detectsSpeech } = models.model(model);
  return { model: name, format: { encoding: "pcm16", rate: 24_000 }, turns: detectsSpeech ? USUAL_TURNS : null };
}

/**
 * Returns the settings with all of these changes applied. Throws SvcError `unsupported_parameter`, `invalid_value` or
 * `engine_unavailable`, and then applies none. `hasBegun`: sound in the session's current format has arrived.
 */
export function changed(before: LiveSettings, changes: LiveChanges, models: Models, hasBegun: boolean): LiveSettings {
  const { name, detectsSpeech } = models.model(changes.model ?? before.model);
  const format = changes.format ?? before.format;
  const isOther = format.encoding !== before.format.encoding || format.rate !== before.format.rate;
  if (isOther && hasBegun) {
    const message = "The format can no longer change: sound in another format has already arrived.";
    throw new SvcError("invalid_value", message, { param: "format" });
  }
  const turns = changes.turns && { ...(before.turns ?? USUAL_TURNS), ...changes.turns };
  if (turns && !detectsSpeech) {
    throw fieldError("unsupported_parameter", "turn_detection", "must be null: this server has no speech detector");
  }
  const language = changes.language === undefined ? before.language : changes.language;
  const prompt = changes.prompt === undefined ? before.prompt : changes.prompt;
  return {
    model: name,
    format,
    ...(language != null && { language }),
    ...(prompt != null && { prompt }),
    turns: turns === undefined ? before.turns : turns,
  };
}
