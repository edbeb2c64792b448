// Reads what the server must know about a speech recognition model before it starts an engine for it.

import { closeSync, openSync, statSync } from "node:fs";
import { basename } from "node:path";
import { GgufCursor, HeaderOutOfBounds } from "./gguf-cursor.ts";
import { ModelFileError } from "./gguf.ts";
import { readingModel, readPart, type ServedFile } from "./read-model.ts";
import { tensorTypes } from "./tensor-types.ts";

/** A model in whisper.cpp's format; the `id` of `ggml-base.en.bin` is whisper-base.en. */
export interface WhisperFile extends ServedFile {
  /** Whether the model may have been trained to translate speech into English; only false is certain. */
  readonly translates: boolean;
  /** Bytes that each recording takes during recognition, in addition to the weights. */
  readonly stateBytes: number;
}

/** The start of files in whisper.cpp's format: ggml's magic number, little-endian. */
const MAGIC = "lmgg";

/** Count of 32-bit numbers after it: vocabulary, four of the encoder, four of the decoder, mel bands, weight type. */
const NUMBERS = 11;
/** Bytes read at a time: only the few before the weights of each tensor are wanted. */
const WINDOW_BYTES = 4096;
/** More words than any vocabulary has. */
const MOST_WORDS = 1 << 20;
const MOST_DIMENSIONS = 4;

/** Vocabulary size of multilingual models; that of English-only models is one less. */
const MULTILINGUAL_VOCABULARY = 51_865;
/** Names of models with a reduced decoder that are known to have been trained only to transcribe. */
const TRANSCRIBERS = /turbo|distil|\.en\b/i;

/** Bytes of a number in a cache. */
const HALF = 2;
/** Text caches that whisper.cpp allocates for five beams: two more, so that beams can be moved. */
const BEAMS = 7;
/** Bytes per number of the encoded sound, and per token that is scored, as measured with the model base. */
const ENCODING = 64;
const SCORING = 256;

/** Returns whether a file starts like one of whisper.cpp's. Throws the system's error. */
export const isWhisperFile = (path: string): boolean => readPart(path, MAGIC.length).toString("latin1") === MAGIC;

/**
 * Reads the header of a file in whisper.cpp's format, and checks in milliseconds that none of its tensors is cut off.
 * Throws ModelFileError.
 */
export function readWhisperFile(path: string): WhisperFile {
  return readingModel(path, () => {
    const name = basename(path);
    if (!isWhisperFile(path)) {
      throw new ModelFileError(`${name} is not a model in whisper.cpp's format (ggml-….bin).`);
    }
    const { size, mtimeMs } = statSync(path);
    const header = readPart(path, NUMBERS * 4, MAGIC.length);
    if (header.length < NUMBERS * 4) throw new ModelFileError(`${name} is cut off: it ends in its first bytes.`);
    if (!isComplete(path, size)) {
      throw new ModelFileError(`${name} is incomplete or corrupt (${size} bytes in all); get the file again.`);
    }
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

function isComplete(path: string, size: number): boolean {
  const file = openSync(path, "r");
  try {
    const cursor = new GgufCursor(file, size, WINDOW_BYTES);
    cursor.skip(MAGIC.length + NUMBERS * 4);
    return skipWords(cursor) && skipTensors(cursor);
  } catch (error) {
    if (error instanceof HeaderOutOfBounds) return false;
    throw error;
  } finally {
    closeSync(file);
  }
}

/** Skips the filters of the mel bands and the vocabulary. Returns false when they are corrupt. */
function skipWords(cursor: GgufCursor): boolean {
  cursor.skip(cursor.u32() * cursor.u32() * 4);
  const words = cursor.u32();
  if (words > MOST_WORDS) return false;
  for (let word = 0; word < words; word++) cursor.skip(cursor.u32());
  return true;
}

/** Skips all tensors: their number is nowhere. Returns false when one is corrupt. */
function skipTensors(cursor: GgufCursor): boolean {
  while (cursor.remaining > 0) {
    const [dimensions, nameLength, number] = [cursor.u32(), cursor.u32(), cursor.u32()];
    const type = tensorTypes.get(number);
    // A part of a file that was never written consists of zeros.
    if (!type || dimensions > MOST_DIMENSIONS || nameLength === 0) return false;
    let elements = 1;
    for (let d = 0; d < dimensions; d++) elements *= cursor.u32();
    cursor.skip(nameLength + Math.ceil(elements / type.elements) * type.bytes);
  }
  return true;
}

/** Guesses from vocabulary, layers and name: every multilingual vocabulary has the token that asks for translation. */
function mayTranslate([vocabulary = 0, , , , soundLayers = 0, , , , textLayers = 0]: readonly number[], name: string) {
  if (vocabulary < MULTILINGUAL_VOCABULARY) return false;
  return textLayers * 2 >= soundLayers || !TRANSCRIBERS.test(name);
}

function stateBytes(numbers: readonly number[]): number {
  const [vocabulary = 0, soundContext = 0, soundWidth = 0] = numbers;
  const [textContext = 0, textWidth = 0, , textLayers = 0] = numbers.slice(5);
  const keysAndValues = (width: number, layers: number, context: number) =>
    width * layers * (Math.ceil(context / 256) * 256) * 2 * HALF;
  // As whisper.cpp allocates them: for beams, for the sound in the decoder, and for the encoder's attention.
  const caches =
    BEAMS * keysAndValues(textWidth, textLayers, textContext) +
    keysAndValues(textWidth, textLayers, soundContext) +
    keysAndValues(soundWidth, 1, soundContext);
  return caches + ENCODING * soundWidth * soundContext + SCORING * vocabulary;
}
