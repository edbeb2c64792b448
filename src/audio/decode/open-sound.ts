// Decodes sound files of all usual formats to samples for speech recognition: 16 kHz, one channel, in windows.

import { invalidValue, SvcError } from "../../domain/errors.ts";
import { nextTurn } from "../../domain/next-turn.ts";
import { DamagedSound, UnsupportedSound } from "./container.ts";
import {
  READINGS,
  HEAD_BYTES,
  SOUND_FORMATS,
  soundFormat,
  tagBytes,
  type FormatReading,
  type SoundFormat,
} from "./format.ts";
import { containerSamples, ffmpegSamples, nativeSamples, type ReadingState } from "./samples.ts";
import { bytesAt, openBytes, type SoundBytes, type SoundFile } from "./sound-bytes.ts";
import { SAMPLE_RATE, type SoundTools } from "./sound-tools.ts";
import { foreignCoding } from "./wav-coding.ts";

/** Samples of a window, about four seconds; the last one may be shorter. */
const WINDOW_SAMPLES = 1 << 16;

/** Seconds of sound after which the duration is estimated: by then, the bytes per second are known well enough. */
const ENOUGH_TO_TELL = 60;
/** Minimum bytes per second of speech, in formats that do not state their duration. */
const LEAST_BYTES_A_SECOND = 600;

export interface SoundLimits {
  /** Longest duration; longer files are refused. */
  readonly maxSeconds: number;
  /** The request field with the file, for error messages. */
  readonly field: string;
  /** Thrown when the file is longer; absent: an error that names the option for the duration. */
  readonly tooLong?: SvcError;
  /** Stops decoding between two windows, with its reason. */
  readonly signal?: AbortSignal;
}

/** A sound that is being decoded. */
export interface Sound {
  /** Returns how much of the file has been read, from 0 to 1, as far as the file tells; undefined when unknown. */
  readonly share: () => number | undefined;
  /**
   * Samples between -1 and 1, in order; the reader keeps each window. Must be read to the end, or left with `return` to
   * close the file. Throws SvcError `invalid_value` when the sound is too long, or the signal's reason.
   */
  readonly windows: AsyncIterableIterator<Float32Array, void, void>;
}

/**
 * Opens a sound file and decodes its first window; bytes must not be `isNative`. Memory holds a few windows, whatever
 * the file claims; a truncated or damaged file plays as far as possible. Throws SvcError `invalid_value` for files that
 * are no sound or have no samples, or the signal's reason. After one minute, a file on disk that may be too long is
 * decoded to its end once, so that it is refused then and not hours later.
 */
export const openSound = (source: SoundFile, tools: SoundTools, limits: SoundLimits): Promise<Sound> =>
  open(source, tools, limits, async () => {
    if (typeof source !== "string") return;
    const { windows } = await open(source, tools, limits);
    while (!(await windows.next()).done);
  });

/** Returns whether the native libraries read a file by themselves: WAV, MP3 and FLAC, of the usual codings. */
export function isNative(file: SoundBytes, format = formatOf(file)): boolean {
  if (format === undefined) return false;
  const { container, isForeign }: FormatReading = READINGS[format];
  return container === undefined && !isForeign && (format !== "wav" || foreignCoding(file) === undefined);
}

/** `measure` is called when the sound may be too long, and throws when it is. */
async function open(
  source: SoundFile,
  tools: SoundTools,
  limits: SoundLimits,
  measure?: () => Promise<void>,
): Promise<Sound> {
  limits.signal?.throwIfAborted();
  const file = openBytes(source);
  let format: SoundFormat | undefined;
  try {
    format = formatOf(file);
    if (!format)
      throw invalidValue(limits.field, `be ${SOUND_FORMATS}`, file.size === 0 ? "0 bytes" : "another kind of file");
  } catch (error) {
    file.close();
    throw error;
  }
  const state: ReadingState = { share: undefined };
  const samples = samplesOf(file, source, format, tools, limits, state);
  const look = async (seconds: number) => {
    if (mayBeTooLong(seconds, state, file, limits)) await measure?.();
  };
  const windows = inWindows(readable(samples, format, limits), file, limits, look);
  const first = await windows.next();
  if (first.done) throw invalidValue(limits.field, "have sound in it", `${READINGS[format].name} without samples`);
  return { share: () => state.share, windows: withFirst(first.value, windows) };
}

function formatOf(file: SoundBytes): SoundFormat | undefined {
  const head = bytesAt(file, 0, HEAD_BYTES);
  const tag = tagBytes(head);
  return tag === 0 ? soundFormat(head) : soundFormat(bytesAt(file, tag, HEAD_BYTES), true);
}

async function* samplesOf(
  file: SoundBytes,
  source: SoundFile,
  format: SoundFormat,
  tools: SoundTools,
  limits: SoundLimits,
  state: ReadingState,
): AsyncGenerator<Float32Array> {
  if (typeof source === "string" && isNative(file, format)) return yield* nativeSamples(source, tools, state);
  const { container }: FormatReading = READINGS[format];
  if (container === undefined) {
    const coding = format === "wav" ? foreignCoding(file) : undefined;
    return yield* ffmpegSamples(source, format, tools, limits, coding);
  }
  let some = false;
  try {
    for await (const samples of containerSamples(file, container, tools, state)) {
      some ||= samples.length > 0;
      yield samples;
    }
  } catch (error) {
    if (some || !(error instanceof UnsupportedSound)) throw error;
    state.share = undefined;
    yield* ffmpegSamples(source, format, tools, limits);
  }
}

/** Converts faults of a file: to an error when nothing has played yet, else to the end of the sound. */
async function* readable(
  samples: AsyncGenerator<Float32Array>,
  format: SoundFormat,
  { field }: SoundLimits,
): AsyncGenerator<Float32Array> {
  let some = false;
  try {
    for await (const part of samples) {
      some ||= part.length > 0;
      yield part;
    }
  } catch (error) {
    const reason = faultOf(error);
    if (reason === undefined) throw error;
    if (!some)
      throw invalidValue(field, `be ${SOUND_FORMATS} that can be decoded`, `${READINGS[format].name}: ${reason}`);
  }
}

/** Returns what is wrong with the file; undefined when the error is not the file's fault. */
function faultOf(error: unknown): string | undefined {
  if (error instanceof DamagedSound || error instanceof UnsupportedSound) return error.message;
  return error instanceof Error && "code" in error && error.code === "bad-sound" ? error.message : undefined;
}

/** Estimates whether the sound is too long after `seconds`. The file's own claims may be wrong by a factor of two. */
function mayBeTooLong(
  seconds: number,
  { share }: ReadingState,
  { size }: SoundBytes,
  { maxSeconds }: SoundLimits,
): boolean {
  return share === undefined ? size / LEAST_BYTES_A_SECOND > maxSeconds : seconds / share > maxSeconds / 2;
}

/** Yields windows of one size; closes the file at the end. Calls `look` once, with the seconds read by then. */
async function* inWindows(
  samples: AsyncGenerator<Float32Array>,
  file: SoundBytes,
  { maxSeconds, field, signal, tooLong = longerThan(maxSeconds, field) }: SoundLimits,
  look: (seconds: number) => Promise<void>,
): AsyncGenerator<Float32Array, void, void> {
  let window = new Float32Array(WINDOW_SAMPLES);
  let filled = 0;
  let total = 0;
  let looked = false;
  // Decoding is synchronous, so a cancellation needs a turn of the event loop to arrive.
  const turn = async () => {
    await nextTurn();
    signal?.throwIfAborted();
  };
  try {
    for await (const part of samples) {
      if (part.length === 0) await turn();
      total += part.length;
      if (total > maxSeconds * SAMPLE_RATE) throw tooLong;
      if (!looked && total >= ENOUGH_TO_TELL * SAMPLE_RATE) {
        looked = true;
        await look(total / SAMPLE_RATE);
      }
      for (let from = 0; from < part.length;) {
        const count = Math.min(part.length - from, WINDOW_SAMPLES - filled);
        for (let index = 0; index < count; index++) window[filled + index] = within(part[from + index] ?? 0);
        from += count;
        filled += count;
        if (filled < WINDOW_SAMPLES) continue;
        yield window;
        window = new Float32Array(WINDOW_SAMPLES);
        filled = 0;
        await turn();
      }
    }
    if (filled > 0) yield window.slice(0, filled);
  } finally {
    file.close();
  }
}

/** Limits a sample to -1 to 1, since files of floats may contain any value. */
const within = (value: number): number => (value > 1 ? 1 : value < -1 ? -1 : Number.isNaN(value) ? 0 : value);

const longerThan = (maxSeconds: number, field: string): SvcError =>
  invalidValue(field, `play for at most ${maxSeconds / 60} minutes (--max-audio-minutes)`, "a longer sound");

/** Puts the first window, which was already read, before the others; leaving the windows also closes the file. */
function withFirst(
  first: Float32Array,
  rest: AsyncGenerator<Float32Array, void, void>,
): AsyncIterableIterator<Float32Array, void, void> {
  let taken = false;
  return {
    next: async () => {
      if (taken) return rest.next();
      taken = true;
      return { done: false, value: first };
    },
    return: () => rest.return(),
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
