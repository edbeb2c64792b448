// Voices of a program of the host's, which is started for each portion of a text.

import { resample } from "../../../audio/resample.ts";
import { stretch } from "../../../audio/time-stretch.ts";
import type { SpeechWork } from "../../../domain/speech.ts";
import { portions } from "../../../speech/portions.ts";
import { ProgramError } from "../../process/program.ts";
import type { HostProgram, ProgramKind } from "../host/host-program.ts";
import { plainText } from "../host/plain-text.ts";
import type { Speaker, Utterance } from "./worker.ts";

export class ProgramSpeaker implements Speaker {
  readonly sampleRate = 24_000;

  constructor(
    private readonly program: HostProgram,
    private readonly kind: ProgramKind,
  ) {}

  sentences({ text }: SpeechWork): string[] {
    return portions(text);
  }

  async pieces(portion: string): Promise<string[]> {
    const text = plainText(portion);
    return /[\p{L}\p{N}]/u.test(text) ? [text] : [];
  }

  async speak(text: string, { voice, speed }: SpeechWork, signal: AbortSignal): Promise<Utterance> {
    const { name } = this.program;
    const { slowest, fastest } = this.kind;
    const given = Math.min(fastest, Math.max(slowest, speed));
    const saying = { voice: voice.slice(name.length + 1), text, speed: given };
    const sound = await this.kind.say(this.program, saying, signal).catch((error: unknown) => {
      throw error instanceof ProgramError ? new ProgramError(`${name}: ${error.message}`) : error;
    });
    const samples = resample(sound.samples, sound.sampleRate, this.sampleRate);
    return {
      samples: given === speed ? samples : stretch(samples, speed / given, this.sampleRate),
      phonemes: Array.from(text).length,
    };
  }
}
