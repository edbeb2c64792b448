// The embedded voice: its reader makes phonemes of text, and its model sound of them.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { SpeechWork } from "../../../domain/speech.ts";
import { Phonemizer } from "../../../speech/phonemizer.ts";
import { cut } from "../../../speech/sentences.ts";
import { speechData } from "../../../speech/speech-data.ts";
import { Voice } from "./voice.ts";
import type { Speaker, Utterance } from "./worker.ts";

/**
 * Phonemes that are said at once, at the usual speed: a few seconds of sound, for which the longest computation that nothing
 * can interrupt takes less than 250 ms.
 */
const MOST_PHONEMES = 150;

export class Heart implements Speaker {
  private constructor(
    private readonly voice: Voice,
    private readonly phonemizer: Phonemizer,
  ) {}

  /** Loads `voice.onnx` and what src/speech reads. Throws when they are none. */
  static async load(folder: string): Promise<Heart> {
    const read = (name: string) => readFileSync(join(folder, name));
    return new Heart(await Voice.load(read("voice.onnx")), new Phonemizer(speechData(read)));
  }

  get sampleRate(): number {
    return this.voice.sampleRate;
  }

  sentences({ text }: SpeechWork): string[] {
    return this.phonemizer.sentences(text);
  }

  async pieces(sentence: string, { speed }: SpeechWork): Promise<string[]> {
    const phonemes = this.phonemizer.phonemes(sentence);
    // What is said slowly takes longer to compute.
    const most = Math.floor(MOST_PHONEMES * Math.min(1, Math.max(0.5, speed)));
    return phonemes === "" ? [] : cut(phonemes, most);
  }

  async speak(piece: string, { speed }: SpeechWork): Promise<Utterance> {
    const ids = this.phonemizer.ids(piece);
    return { samples: await this.voice.speak(ids, speed), phonemes: ids.length };
  }
}
