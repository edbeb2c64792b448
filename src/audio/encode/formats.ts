// The formats in which sound can be requested.

import { SPEECH_RATE, type SpeechFormat } from "../../domain/speech.ts";
import { makeAacEncoder } from "./aac.ts";
import { cafHead, completeCaf } from "./caf.ts";
import { withHead, type AudioFormat } from "./encoder.ts";
import { completeFlac, FlacEncoder, flacHead } from "./flac.ts";
import { makeMp3Encoder } from "./mp3.ts";
import { makeOpusEncoder } from "./opus.ts";
import { pcmEncoder } from "./pcm.ts";
import { completeWav, wavHead } from "./wav.ts";

/** `pcm`: only samples, 16 bits, little-endian. */
export const FORMATS: Readonly<Record<SpeechFormat, AudioFormat>> = {
  mp3: { make: makeMp3Encoder },
  opus: { make: makeOpusEncoder },
  aac: { make: makeAacEncoder },
  flac: { make: async () => withHead(flacHead(), new FlacEncoder()), complete: completeFlac },
  wav: { make: async () => withHead(wavHead(SPEECH_RATE), pcmEncoder), complete: completeWav },
  pcm: { make: async () => pcmEncoder },
  caf: { make: async () => withHead(cafHead(), pcmEncoder), complete: completeCaf, isWhole: true },
};
