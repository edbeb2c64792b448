// Transcribes with svc's own libraries in this process: the engine's result for a file without its optimizations for
// speed.

import { openAudio } from "../../ffi/audio/binding.ts";
import type { JobOptions } from "../../ffi/whisper/api.ts";
import { openWhisper } from "../../ffi/whisper/binding.ts";
import { nativeFiles } from "../../ffi/runtime/native-files.ts";
import { openSound } from "../../src/audio/decode/open-sound.ts";
import { AROUND_SPEECH_SECONDS, joined, PhraseFinder } from "../../src/engine/transcription/child/phrases.ts";
import { LONGEST_STRETCH, PhraseQueue } from "../../src/engine/transcription/child/stretch.ts";
import { VAD_MODEL, WHISPER_MODEL } from "../bench/whisper-programs.ts";
import { oneLine } from "../bench/spoken.ts";

const { libraries } = nativeFiles("");

export class OwnTranscriber {
  private readonly whisper = openWhisper(libraries);
  private readonly audio = openAudio(libraries);

  private constructor() {}

  /** Throws when the model cannot be loaded. */
  static async load(threads: number): Promise<OwnTranscriber> {
    const own = new OwnTranscriber();
    const { whisper } = own;
    whisper.loadStart({
      path: WHISPER_MODEL,
      vadPath: VAD_MODEL,
      workers: 1,
      threads,
      gpu: false,
      flashAttention: true,
    });
    for (let state = whisper.loadPoll(); state.state !== "ready"; state = whisper.loadPoll()) {
      if (state.state === "failed") throw new Error("the model cannot be loaded");
      await Bun.sleep(20);
    }
    return own;
  }

  /** Returns all samples of a file for the model; `vad`: without sound that is not speech. */
  async samples(file: string, vad: boolean): Promise<Float32Array> {
    const tools = { audio: this.audio, run: () => Promise.reject(new Error("nothing is run here")) as never };
    const { windows } = await openSound(file, tools, { maxSeconds: 60, field: "file" });
    const all: Float32Array[] = [];
    for await (const window of windows) all.push(window);
    if (!vad) return joined(all);
    const finder = new PhraseFinder((part) => this.whisper.speech(part, { padSeconds: AROUND_SPEECH_SECONDS }));
    const queue = new PhraseQueue();
    for (const phrase of [...finder.push(joined(all)), ...finder.end()]) queue.add(phrase);
    return queue.take(LONGEST_STRETCH)?.samples ?? new Float32Array();
  }

  /** Transcribes samples, by default with the encoder for half a minute. */
  async text(samples: Float32Array, options: Partial<JobOptions> = {}): Promise<string> {
    const { whisper } = this;
    const job = whisper.submit(samples, { language: "en", ...options });
    for (let state = whisper.state(job); state !== "done"; state = whisper.state(job)) {
      if (typeof state !== "string") throw new Error(state.error);
      whisper.wait(1000);
    }
    const text = whisper.segments(job, 0).map((segment) => segment.text);
    whisper.release(job);
    return oneLine(text.join("\n"));
  }
}
