// Decodes requests of /v1/audio/speech.

import { checker } from "../../contract/schema.ts";
import { SpeechRequest } from "../../contract/speech.ts";
import { invalidValue } from "../../domain/errors.ts";
import type { SpeechWork } from "../../domain/speech.ts";
import { notEmpty, refuseUnsupported } from "../fields/unsupported.ts";

interface SpeechCall {
  readonly model?: string;
  readonly work: Omit<SpeechWork, "voice">;
  /** Absent: the default voice. */
  readonly voice?: string;
  readonly locale?: string;
  /** Whether the sound is sent as events. */
  readonly events: boolean;
}

const check = checker(SpeechRequest);

/** Decodes a request. Throws SvcError naming the invalid field. */
export function decodeSpeech(body: unknown): SpeechCall {
  const { input, model, voice, locale, response_format, speed, stream_format } = check(body);
  // Available voices take no instructions, and the host's own voices have other names here.
  refuseUnsupported(body, { instructions: notEmpty, apple_voice: notEmpty });
  if (!/[\p{L}\p{N}]/u.test(input)) {
    throw invalidValue(
      "input",
      "have a letter or a digit that can be spoken",
      `${input.length} characters without one`,
    );
  }
  const named = typeof voice === "object" ? voice?.id : voice;
  return {
    ...(model && { model }),
    work: { text: input, speed: speed ?? 1, format: response_format ?? "mp3" },
    ...(named && { voice: named }),
    ...(locale && { locale }),
    events: stream_format === "sse",
  };
}
