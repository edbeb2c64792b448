// The embedded voice: its phonemizer turns text into phonemes, and its model turns these into sound.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { SpeechWork } from "../../../domain/speech.ts";
import type { Phonemizer } from "../../../speech/phonemizer.ts";
import { AcousticModel, OWN_SPEEDS } from "./acoustic-model.ts";
import { loadPhonemizer } from "./load-phonemizer.ts";
import { inPieces } from "./own-speeds.ts";
import type { Speaker, Utterance } from "./loop.ts";

/**
 * Most phonemes spoken at once, at normal speed: a few seconds of sound. The longest computation for them that cannot
 * be interrupted takes less than 250 ms.
 */
const MOST_PHONEMES = 150;

export class Heart implements Speaker {
  private constructor(
    private readonly model: AcousticModel,
    private readonly phonemizer: Phonemizer,
  ) {}

  /** Loads `voice.onnx` and the data of src/speech. Throws when the files are not valid. */
  static async load(folder: string): Promise<Heart> {
    const model = await AcousticModel.load(readFileSync(join(folder, "voice.onnx")));
    return new Heart(model, await loadPhonemizer(folder));
  }

  sentences({ text }: SpeechWork): string[] {
    return this.phonemizer.sentences(text);
  }

  async pieces(sentence: string, { speed }: SpeechWork): Promise<string[]> {
    return inPieces(await this.phonemizer.phonemes(sentence), MOST_PHONEMES, speed, OWN_SPEEDS);
  }

  async speak(piece: string, { speed }: SpeechWork): Promise<Utterance> {
    const ids = this.phonemizer.ids(piece);
    return { samples: await this.model.speak(ids, speed), phonemes: ids.length };
  }
}
