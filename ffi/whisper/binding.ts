// Binds the whisper shim through bun:ffi; callers above this file see a typed API, never JSON or pointers.

import { addressable, NativeLibrary } from "../runtime/library.ts";
import {
  JOB_DEFAULTS,
  LISTENING_WINDOW,
  SPEECH_DEFAULTS,
  WHISPER_ERRORS,
  WHISPER_STAGES,
  WhisperError,
  type JobOptions,
  type Segment,
  type Span,
  type SpeechOptions,
  type Whisper,
  type WhisperConfig,
  type WhisperErrorCode,
  type WhisperJob,
  type WhisperModel,
  type WhisperState,
} from "./api.ts";
import { ABI_VERSION, symbols } from "./symbols.ts";

const shim = { name: "whisper", abi: ABI_VERSION, symbols, errors: WHISPER_ERRORS, Failure: WhisperError };

/**
 * Loads the whisper library in `directory`, which also has the compute backends. Call it once per process.
 * Throws WhisperError naming the path when the library is missing or has another version.
 */
export const openWhisper = (directory: string): NativeWhisper => new NativeWhisper(directory);

export class NativeWhisper extends NativeLibrary<typeof symbols, WhisperErrorCode> implements Whisper {
  constructor(private readonly libraries: string) {
    super(libraries, shim);
  }

  loadStart(config: WhisperConfig): void {
    const json = this.json({ ...config, libraries: this.libraries });
    this.check(this.native.svc_whisper_load_start(json, json.length), "start loading a speech model");
  }

  model(): WhisperModel {
    return this.readJson(this.native.svc_whisper_info, "describe the speech model") as WhisperModel;
  }

  speech(samples: Float32Array, options: Partial<SpeechOptions> = {}): Span[] {
    const json = this.json({ ...SPEECH_DEFAULTS, ...options });
    const sound = addressable(samples);
    const { length } = samples;
    // With a buffer that is too small, the library would listen again.
    const spans = this.readJson(
      (out, size) => this.native.svc_whisper_speech(sound, length, json, json.length, out, size),
      "listen for speech",
    );
    return spans as Span[];
  }

  listen(samples: Float32Array, memory: Float32Array): Float32Array {
    const probabilities = new Float32Array(Math.max(1, Math.floor(samples.length / LISTENING_WINDOW)));
    const { length } = probabilities;
    const sound = addressable(samples);
    const heard = this.native.svc_whisper_listen(sound, samples.length, memory, memory.length, probabilities, length);
    return probabilities.subarray(0, this.check(heard, "listen on"));
  }

  submit(samples: Float32Array, options: Partial<JobOptions> = {}): WhisperJob {
    const json = this.json({ ...JOB_DEFAULTS, ...options });
    const job = this.native.svc_whisper_submit(addressable(samples), samples.length, json, json.length);
    return this.check(job, "queue sound") as WhisperJob;
  }

  wait(timeoutMs: number): WhisperJob | undefined {
    const job = this.native.svc_whisper_wait(timeoutMs);
    return job === 0 ? undefined : (job as WhisperJob);
  }

  state(job: WhisperJob): WhisperState {
    const stage = this.native.svc_whisper_state(job);
    return stage < 0 ? this.failure() : this.named(WHISPER_STAGES, stage, "look at a job");
  }

  segments(job: WhisperJob, from: number): Segment[] {
    const write = (out: Uint8Array, size: number) => this.native.svc_whisper_segments(job, from, out, size);
    return this.readJson(write, "take segments") as Segment[];
  }

  language(job: WhisperJob): string | undefined {
    return this.read((out, size) => this.native.svc_whisper_language(job, out, size), "take a language") || undefined;
  }

  release(job: WhisperJob): void {
    this.native.svc_whisper_release(job);
  }
}
