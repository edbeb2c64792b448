// Checks audio files by their headers. The engine decodes them, since it resamples for its model.

import type { AudioMedia } from "../domain/media.ts";
import { flacSeconds } from "./flac.ts";
import type { MediaLimits } from "./limits.ts";
import { mp3Seconds } from "./mp3.ts";
import { Refusal } from "./refusal.ts";
import { contentHash } from "./slices.ts";
import { audioFormat, describeType, type AudioFormat } from "./sniff.ts";
import { wavSeconds } from "./wav.ts";

const seconds: Readonly<Record<AudioFormat, (bytes: Uint8Array, signal: AbortSignal) => number | Promise<number>>> = {
  wav: wavSeconds,
  mp3: mp3Seconds,
  flac: flacSeconds,
};

/**
 * Checks a WAV, MP3 or FLAC file: its header and its duration. Fills in, in place, the sizes in the header of a WAV
 * that was written to a pipe. Throws Refusal, or the signal's reason.
 */
export async function checkAudio(bytes: Uint8Array, limits: MediaLimits, signal: AbortSignal): Promise<AudioMedia> {
  const format = audioFormat(bytes);
  if (!format) throw new Refusal("be WAV, MP3 or FLAC audio", describeType(bytes));
  const length = await seconds[format](bytes, signal);
  if (length > limits.maxAudioSeconds) {
    throw new Refusal(`play for at most ${limits.maxAudioSeconds} seconds`, `${Math.ceil(length)} seconds`);
  }
  return { kind: "audio", id: await contentHash("audio ", bytes, signal), bytes };
}
