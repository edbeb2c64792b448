// What the server must know about a speech recognition model before it starts an engine for it.

import { statSync } from "node:fs";
import { basename } from "node:path";
import { ModelFileError } from "./gguf.ts";
import { readingModel, readStart, type ServedFile } from "./read-model.ts";

/** `ggml-base.en.bin` is called whisper-base.en. */
export interface WhisperFile extends ServedFile {
  /** Whether it may have been trained to translate speech into English: only false is certain. */
  readonly translates: boolean;
  /** Bytes that each recording which is recognised takes beside the weights. */
  readonly stateBytes: number;
}

/** What files in whisper.cpp's format begin with: ggml's magic number, little-endian. */
const MAGIC = "lmgg";

/** The numbers behind it, 32 bits each: vocabulary, five of the encoder, four of the text decoder, mel bands, weight type. */
const NUMBERS = 11;
/** Words of the models that know English alone, but for one. */
const MULTILINGUAL_VOCABULARY = 51_865;
/** Names of models with a decoder that was cut down, of which it is known that they were trained to transcribe alone. */
const TRANSCRIBERS = /turbo|distil|\.en\b/i;

/** Of a number in a cache. */
const HALF = 2;
/** Caches of text that whisper.cpp makes for five beams: they are to be moved. */
const BEAMS = 7;
/** Bytes for each number of what is encoded, and for each word that is scored, as measured with base. */
const ENCODING = 64;
const SCORING = 256;

/** Whether the file begins as one of whisper.cpp's. Throws what the system throws. */
export const isWhisperFile = (path: string): boolean => readStart(path, MAGIC.length).toString("latin1") === MAGIC;

/** Reads what the head of the file says, if it is one of whisper.cpp's. Throws ModelFileError. */
export function readWhisperFile(path: string): WhisperFile {
  return readingModel(path, () => {
    const name = basename(path);
    if (!isWhisperFile(path)) {
      throw new ModelFileError(`${name} is no model in whisper.cpp's format (ggml-….bin).`);
    }
    const { size, mtimeMs } = statSync(path);
    const header = readStart(path, NUMBERS * 4, MAGIC.length);
    if (header.length < NUMBERS * 4) throw new ModelFileError(`${name} is cut off: it ends in its first bytes.`);
    const numbers = Array.from({ length: NUMBERS }, (_, at) => header.readInt32LE(at * 4));
    const stem = name.replace(/\.bin$/, "").replace(/^ggml-/, "");
    return {
      path,
      id: stem.startsWith("whisper-") ? stem : `whisper-${stem}`,
      bytes: size,
      modified: Math.floor(mtimeMs / 1000),
      translates: mayTranslate(numbers, stem),
      stateBytes: stateBytes(numbers),
    };
  });
}

/** Files do not say it: all with words of other languages have the token that asks for it. */
function mayTranslate([vocabulary = 0, , , , soundLayers = 0, , , , textLayers = 0]: readonly number[], name: string) {
  if (vocabulary < MULTILINGUAL_VOCABULARY) return false;
  return textLayers * 2 >= soundLayers || !TRANSCRIBERS.test(name);
}

function stateBytes(numbers: readonly number[]): number {
  const [vocabulary = 0, soundContext = 0, soundWidth = 0] = numbers;
  const [textContext = 0, textWidth = 0, , textLayers = 0] = numbers.slice(5);
  const keysAndValues = (width: number, layers: number, context: number) =>
    width * layers * (Math.ceil(context / 256) * 256) * 2 * HALF;
  // As whisper.cpp allocates them: of beams, of the sound for the decoder, and for the encoder's attention.
  const caches =
    BEAMS * keysAndValues(textWidth, textLayers, textContext) +
    keysAndValues(textWidth, textLayers, soundContext) +
    keysAndValues(soundWidth, 1, soundContext);
  return caches + ENCODING * soundWidth * soundContext + SCORING * vocabulary;
}
