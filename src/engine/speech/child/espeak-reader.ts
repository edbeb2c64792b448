// Phonemes by the host's eSpeak, for languages that src/speech does not know.

import { clausesOf, fromEspeak } from "../../../speech/kokoro-alphabet.ts";
import { programOutput, type ProgramLimits } from "../../process/program.ts";
import type { HostProgram } from "../host/host-program.ts";
import { plainText } from "../host/plain-text.ts";

const LIMITS: ProgramLimits = { mostBytes: 1 << 18, mostMs: 20_000 };

export class EspeakReader {
  constructor(private readonly program: HostProgram) {}

  /** The phonemes of a sentence as Kokoro takes them. `language`: as eSpeak calls it. Throws ProgramError. */
  async phonemes(sentence: string, language: string): Promise<string> {
    const parts: string[] = [];
    for (const { words, mark } of clausesOf(plainText(sentence))) {
      const read = fromEspeak(await this.read(words, language), language.startsWith("en-gb"));
      if (read !== "") parts.push(read + mark);
    }
    return parts.join(" ");
  }

  private async read(input: string, language: string): Promise<string> {
    const { path, env } = this.program;
    const command = [path, "-q", "--ipa", "--tie=^", "-b", "1", "-v", language, "--stdin"];
    return new TextDecoder().decode(await programOutput(command, { ...LIMITS, env, input }));
  }
}
