// Requests of /v1/audio/speech.

import { checker } from "../../contract/schema.ts";
import { SpeechRequest } from "../../contract/speech.ts";
import { invalidValue } from "../../domain/errors.ts";
import type { SpeechWork } from "../../domain/speech.ts";
import { notEmpty, refuseUnsupported } from "../fields/unsupported.ts";

interface SpeechCall {
  readonly model?: string;
  readonly work: Omit<SpeechWork, "voice">;
  /** Absent: the usual one. */
  readonly voice?: string;
  readonly locale?: string;
  /** Whether the sound is sent in events. */
  readonly events: boolean;
}

const check = checker(SpeechRequest);

/** Throws SvcError naming the field at fault. */
export function decodeSpeech(body: unknown): SpeechCall {
  const { input, model, voice, locale, response_format, speed, stream_format } = check(body);
  // How a voice speaks cannot be told to those that are here, and the host's system names its own otherwise.
  refuseUnsupported(body, { instructions: notEmpty, apple_voice: notEmpty });
  if (!/[\p{L}\p{N}]/u.test(input)) {
    throw invalidValue("input", "have a letter or a digit that can be said", `${input.length} characters without one`);
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
