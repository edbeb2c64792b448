// Opens sounds in tests: the real libraries, files in a temporary folder, and the result for a file.

import { expect } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { openAudio } from "../../../ffi/audio/binding.ts";
import { fileName } from "../../../ffi/runtime/native-files.ts";
import { openSound, type SoundLimits } from "../../../src/audio/decode/open-sound.ts";
import type { SoundFile } from "../../../src/audio/decode/sound-bytes.ts";
import { SAMPLE_RATE, type SoundTools } from "../../../src/audio/decode/sound-tools.ts";
import { SvcError } from "../../../src/domain/errors.ts";
import { runProgram } from "../../../src/engine/process/program.ts";
import { sharedFolder } from "../../support/folders.ts";
import { frequency, TONE } from "../sounds.ts";

export const libraries = process.env["SVC_LIBRARIES"] ?? join(import.meta.dir, "../../../vendor/.build/lib/current");

/** Whether the audio library exists; it is a separate build target. */
export const isBuilt = existsSync(join(libraries, fileName("audio")));

export const fixtures = join(import.meta.dir, "../fixtures");
export const fixture = (name: string): string => join(fixtures, name);

/** Expects the tone of the fixtures, for this long. */
export function expectTone(samples: Float32Array, seconds: number): void {
  expect(samples.length / SAMPLE_RATE).toBeWithin(seconds * 0.98, seconds * 1.02);
  expect(frequency(samples)).toBeWithin(TONE * 0.99, TONE * 1.01);
  // The level of a sine at half scale; encoders that distribute it over two channels make each quieter.
  expect(Math.sqrt(samples.reduce((sum, value) => sum + value ** 2, 0) / samples.length)).toBeWithin(0.23, 0.4);
}

export interface SoundRig {
  readonly folder: string;
  /** Writes a file and returns its path. */
  keep(bytes: Uint8Array, name?: string): Promise<string>;
  /** Returns all samples of a file. Throws what openSound throws. */
  decode(file: SoundFile, changes?: Changes): Promise<Float32Array>;
  /** Returns the error message for a file that is refused, or undefined. */
  refusal(path: string, changes?: Changes): Promise<string | undefined>;
}

export interface Changes extends Partial<SoundLimits> {
  readonly ffmpeg?: string;
  readonly onWindow?: (samples: Float32Array) => void;
}

export function soundRig(): SoundRig {
  const folder = sharedFolder();
  let native: SoundTools["audio"] | undefined;
  let count = 0;
  const decode = async (file: SoundFile, { ffmpeg, onWindow, ...changes }: Changes = {}) => {
    native ??= openAudio(libraries);
    const tools: SoundTools = { audio: native, run: runProgram, ...(ffmpeg !== undefined && { ffmpeg }) };
    const sound = await openSound(file, tools, { maxSeconds: 60, field: "file", ...changes });
    const windows: Float32Array[] = [];
    for await (const window of sound.windows) {
      onWindow?.(window);
      windows.push(window);
    }
    const samples = new Float32Array(windows.reduce((sum, { length }) => sum + length, 0));
    let at = 0;
    for (const window of windows) {
      samples.set(window, at);
      at += window.length;
    }
    return samples;
  };
  return {
    folder,
    keep: async (bytes, name = `${count++}.bin`) => {
      await Bun.write(join(folder, name), bytes);
      return join(folder, name);
    },
    decode,
    refusal: async (path, changes) => {
      try {
        await decode(path, changes);
      } catch (error) {
        if (error instanceof SvcError && error.code === "invalid_value") return error.message;
        throw error;
      }
      return undefined;
    },
  };
}
