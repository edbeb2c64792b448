// Recordings for the checks of all TypeScript clients, and the first bytes of each sound format.

import { readFileSync } from "node:fs";
import { join } from "node:path";

/** Eleven seconds of English, 16 kHz. */
export const JFK = join(import.meta.dir, "../fixtures/sounds/jfk.wav");
/** Words of the recording, as `saidIn` finds them. */
export const JFK_WORDS = "ask what you can do for your country";
/** One sentence, and the words in it. */
export const SENTENCE = "Good morning, the sky is blue.";
export const SENTENCE_WORDS = "the sky is blue";

const HEAD_BYTES = 44;
const jfk = readFileSync(JFK);

/** Returns a WAV file like `JFK` with these samples. */
function wav(samples: Uint8Array): Uint8Array<ArrayBuffer> {
  const file = Buffer.concat([jfk.subarray(0, HEAD_BYTES), samples]);
  file.writeUInt32LE(file.length - 8, 4);
  file.writeUInt32LE(samples.length, HEAD_BYTES - 4);
  return new Uint8Array(file);
}

/** Returns two seconds of silence. */
export const silence = (): Uint8Array<ArrayBuffer> => wav(new Uint8Array(2 * 2 * 16_000));

/** Returns the recording's samples at 24 kHz, 16 bits each. */
export function jfkPcm(): Uint8Array {
  const from = new Int16Array(new Uint8Array(jfk.subarray(HEAD_BYTES)).buffer);
  const to = Int16Array.from({ length: Math.floor(from.length * 1.5) }, (_, at) => {
    const [left, share] = [Math.floor(at / 1.5), (at / 1.5) % 1];
    return (from[left] ?? 0) * (1 - share) + (from[left + 1] ?? 0) * share;
  });
  return new Uint8Array(to.buffer);
}

/** Returns `JFK` repeated for twenty minutes, which takes longer to transcribe than a check runs. */
export const longRecording = (): Uint8Array<ArrayBuffer> =>
  wav(Buffer.concat(Array.from({ length: 110 }, () => jfk.subarray(HEAD_BYTES))));

/** A text that takes longer to speak than a check runs. */
export const LONG_TEXT = `${SENTENCE} `.repeat(1000);

/** Returns whether a text contains these words in order, whatever is between them. */
export const saidIn = (text: string, words: string): boolean =>
  text
    .toLowerCase()
    .replace(/[^a-z]+/g, " ")
    .includes(words);

/** The first bytes of every format except `pcm`, which is samples alone. */
export const FORMATS: Readonly<Record<"mp3" | "opus" | "aac" | "flac" | "wav", RegExp>> = {
  mp3: /^(ID3|\xff[\xf2\xf3\xfa\xfb])/,
  opus: /^OggS/,
  aac: /^\xff[\xf0\xf1\xf8\xf9]/,
  flac: /^fLaC/,
  wav: /^RIFF/,
};

/** Returns whether a file begins like those of a format. */
export const isFormat = (file: Uint8Array, format: keyof typeof FORMATS): boolean =>
  FORMATS[format].test(Buffer.from(file.subarray(0, 4)).toString("latin1"));
