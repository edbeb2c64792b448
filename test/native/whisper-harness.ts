// The whisper library with Whisper base, a recording, and the basic operations of transcription tests.

import { afterAll, beforeAll, expect } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { SAMPLE_RATE } from "../../ffi/audio/api.ts";
import type { JobOptions, Segment, WhisperConfig, WhisperJob } from "../../ffi/whisper/api.ts";
import { openWhisper, type NativeWhisper } from "../../ffi/whisper/binding.ts";
import { developmentLibraries, fileName, nativeFiles } from "../../ffi/runtime/native-files.ts";
import { sharedFolder } from "../support/folders.ts";

const libraries = process.env["SVC_LIBRARIES"] ?? developmentLibraries();
const { embeddedTranscription, embeddedVad } = nativeFiles("");
const WAV_HEADER_BYTES = 44;

/** The models that tests need; empty when the build omitted them. */
export const MODEL = embeddedTranscription ?? "";
export const VAD = embeddedVad ?? "";

/** Whether library and models exist: the library is a separate build target, and the models come with pip. */
export const isBuilt = existsSync(join(libraries, fileName("whisper"))) && MODEL !== "" && VAD !== "";
if (!isBuilt)
  console.log("speech to text is not tested: it is not built, or without its models (`bun build.ts media`)");

/** The words of the president in the fixture. */
export const JFK_WORDS = wordsOf(
  "And so my fellow Americans ask not what your country can do for you ask what you can do for your country",
);

/** Returns the words of a text, without spelling variants. */
export function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/\p{L}+/gu) ?? [];
}

/** The fixture's samples. */
export const jfk: Float32Array = readWav(join(import.meta.dir, "../fixtures/sounds/jfk.wav"));

function readWav(path: string): Float32Array {
  const bytes = readFileSync(path).subarray(WAV_HEADER_BYTES);
  return Float32Array.from({ length: bytes.length / 2 }, (_, index) => bytes.readInt16LE(2 * index) / 2 ** 15);
}

export const seconds = (count: number): number => count * SAMPLE_RATE;

export interface WhisperRig {
  readonly whisper: NativeWhisper;
  /** A folder for files; removed after the last test. */
  readonly folder: string;
}

/** Opens the library before the first test of a file, and unloads the models of its tests after the last. */
export function whisperRig(): WhisperRig {
  const rig: { whisper?: NativeWhisper } = {};
  const folder = sharedFolder();
  beforeAll(() => {
    if (isBuilt) rig.whisper = openWhisper(libraries);
  });
  afterAll(() => rig.whisper?.unload());
  return {
    folder,
    get whisper() {
      if (!rig.whisper) throw new Error("the library is not open");
      return rig.whisper;
    },
  };
}

/** Loads completely, replacing what was loaded; resolves with the error message, or undefined. */
export async function load({ whisper }: WhisperRig, changes: Partial<WhisperConfig> = {}): Promise<string | undefined> {
  const rest = { workers: 1, threads: 1, gpu: false, flashAttention: true };
  whisper.unload();
  whisper.loadStart({ path: MODEL, vadPath: VAD, ...rest, ...changes });
  for (;;) {
    const state = whisper.loadPoll();
    if (state.state === "ready") return undefined;
    if (state.state === "failed") return state.error;
    await Bun.sleep(1);
  }
}

export interface Heard {
  readonly text: string;
  readonly segments: readonly Segment[];
  readonly language: string | undefined;
}

/** Waits until these jobs are done, releases them, and returns their text. */
export function finish({ whisper }: WhisperRig, ...jobs: readonly WhisperJob[]): Heard[] {
  while (jobs.some((job) => whisper.state(job) !== "done")) whisper.wait(1000);
  return jobs.map((job) => {
    const segments = whisper.segments(job, 0);
    const heard = { text: segments.map(({ text }) => text).join(""), segments, language: whisper.language(job) };
    whisper.release(job);
    return heard;
  });
}

/** Returns the speech in a sound. */
export function hear(rig: WhisperRig, samples: Float32Array, options: Partial<JobOptions> = {}): Heard {
  const [heard] = finish(rig, rig.whisper.submit(samples, options));
  if (!heard) throw new Error("nothing was heard");
  return heard;
}

/** Expects that all times ascend and lie within the sound. */
export function expectInOrder(
  spans: readonly { readonly start: number; readonly end: number }[],
  length: number,
): void {
  const times = spans.flatMap(({ start, end }) => [start, end]);
  expect(times).toEqual(times.toSorted((a, b) => a - b));
  expect(times.every((time) => time >= 0 && time <= length)).toBe(true);
}
