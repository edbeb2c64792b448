// Kokoro-82M: one model for many voices, each of which is a table of styles by number of phonemes.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type InferenceSession, Tensor } from "onnxruntime-web/wasm";
import type { SpeechWork } from "../../../domain/speech.ts";
import { clausesOf, fromEspeak } from "../../../speech/kokoro-alphabet.ts";
import type { Phonemizer } from "../../../speech/phonemizer.ts";
import { loadOnnx } from "../../process/onnx-session.ts";
import { type ProgramLimits, programOutput } from "../../process/program.ts";
import type { HostProgram } from "../host/host-program.ts";
import { plainText } from "../host/plain-text.ts";
import { languageOf } from "../kokoro-voices.ts";
import type { KokoroFiles } from "../protocol.ts";
import { loadPhonemizer } from "./load-phonemizer.ts";
import { inPieces, sayAt } from "./own-speeds.ts";
import type { Speaker, Utterance } from "./loop.ts";

/** Most phonemes spoken at once, at normal speed: about six seconds of sound, computed without a pause. */
const MOST_PHONEMES = 100;
const OWN_SPEEDS = { slowest: 0.5, fastest: 2 };
/** Numbers in a style. A voice has a style for each number of phonemes. */
const STYLE_SIZE = 256;
const STYLES = 510;
/** Limits of the reader's run for one clause. */
const READER_LIMITS: ProgramLimits = { mostBytes: 1 << 18, mostMs: 20_000 };

export class Kokoro implements Speaker {
  private readonly styles = new Map<string, Float32Array>();

  private constructor(
    private readonly session: InferenceSession,
    private readonly names: { readonly phonemes: string; readonly samples: string },
    private readonly voices: string,
    private readonly phonemizer: Phonemizer,
    private readonly reader: HostProgram | undefined,
  ) {}

  /** Throws when the files are not Kokoro's. */
  static async load({ model, voices, words, reader }: KokoroFiles): Promise<Kokoro> {
    const session = await loadOnnx(readFileSync(model));
    // Exports of the model differ in the names of the first input and of the output.
    const phonemes = session.inputNames.find((name) => name === "input_ids" || name === "tokens");
    const [samples] = session.outputNames;
    const isComplete = ["style", "speed"].every((name) => session.inputNames.includes(name));
    if (phonemes === undefined || samples === undefined || !isComplete) {
      throw new Error(`this is not a model of Kokoro: its inputs are ${session.inputNames.join(", ")}`);
    }
    return new Kokoro(session, { phonemes, samples }, voices, await loadPhonemizer(words), reader);
  }

  sentences({ text }: SpeechWork): string[] {
    return this.phonemizer.sentences(text);
  }

  async pieces(sentence: string, { voice, speed }: SpeechWork, signal?: AbortSignal): Promise<string[]> {
    return inPieces(await this.read(sentence, voice, signal), MOST_PHONEMES, speed, OWN_SPEEDS);
  }

  async speak(piece: string, { voice, speed }: SpeechWork): Promise<Utterance> {
    const ids = this.phonemizer.ids(piece);
    const style = this.styleOf(voice, ids.length - 2);
    const samples = await sayAt(speed, OWN_SPEEDS, (given) => this.compute(ids, style, given));
    return { samples, phonemes: ids.length };
  }

  /** Returns a sentence's phonemes in the model's alphabet. Throws ProgramError, or the signal's reason. */
  private async read(sentence: string, voice: string, signal?: AbortSignal): Promise<string> {
    const language = languageOf(voice)?.reader;
    if (language === undefined) return this.phonemizer.phonemes(sentence);
    if (!this.reader) throw new Error(`nobody reads the language of ${voice} out`);
    const { path, env } = this.reader;
    const command = [path, "-q", "--ipa", "--tie=^", "-b", "1", "-v", language, "--stdin"];
    const parts: string[] = [];
    for (const { words, mark } of clausesOf(plainText(sentence))) {
      const output = await programOutput(command, { ...READER_LIMITS, env, input: words }, signal);
      const phonemes = fromEspeak(new TextDecoder().decode(output), language.startsWith("en-gb"));
      if (phonemes !== "") parts.push(phonemes + mark);
    }
    return parts.join(" ");
  }

  private async compute(ids: readonly number[], style: Float32Array, speed: number): Promise<Float32Array> {
    const { phonemes, samples } = this.names;
    const outputs = await this.session.run({
      [phonemes]: new Tensor("int64", BigInt64Array.from(ids, BigInt), [1, ids.length]),
      style: new Tensor("float32", style, [1, STYLE_SIZE]),
      speed: new Tensor("float32", Float32Array.of(speed), [1]),
    });
    const data = outputs[samples]?.data;
    if (!(data instanceof Float32Array)) throw new Error("the model made no samples");
    return data;
  }

  /** Returns a voice's style for this number of phonemes. */
  private styleOf(voice: string, phonemes: number): Float32Array {
    const known = this.styles.get(voice) ?? this.readStyles(voice);
    const at = Math.min(Math.max(phonemes, 1), STYLES) - 1;
    return known.slice(at * STYLE_SIZE, (at + 1) * STYLE_SIZE);
  }

  private readStyles(voice: string): Float32Array {
    const bytes = readFileSync(join(this.voices, `${voice}.bin`));
    if (bytes.length !== STYLES * STYLE_SIZE * 4) throw new Error(`${voice}.bin is not a voice of Kokoro`);
    const styles = new Float32Array(new Uint8Array(bytes).buffer);
    this.styles.set(voice, styles);
    return styles;
  }
}
