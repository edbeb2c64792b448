// Speaks with a program of the host, which is started for each portion of a text.

import { resample } from "../../../audio/resample.ts";
import { SPEECH_RATE, type SpeechWork } from "../../../domain/speech.ts";
import { portions } from "../../../speech/portions.ts";
import { ProgramError } from "../../process/program.ts";
import type { HostProgram, ProgramKind } from "../host/host-program.ts";
import { plainText } from "../host/plain-text.ts";
import { sayAt } from "./own-speeds.ts";
import type { Speaker, Utterance } from "./loop.ts";

export class ProgramSpeaker implements Speaker {
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
    const own = voice.slice(name.length + 1);
    const samples = await sayAt(speed, this.kind, async (given) => {
      const sound = await this.kind.say(this.program, { voice: own, text, speed: given }, signal);
      return resample(sound.samples, sound.sampleRate, SPEECH_RATE);
    }).catch((error: unknown) => {
      throw error instanceof ProgramError ? new ProgramError(`${name}: ${error.message}`) : error;
    });
    return { samples, phonemes: Array.from(text).length };
  }
}
