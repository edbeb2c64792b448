// Piper: neural voices in one file each, with a description beside it.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { readSamples } from "../../../audio/decode/wav.ts";
import type { Voice } from "../../../domain/speech.ts";
import { programOutput } from "../../process/program.ts";
import { languageTag, SOUND_LIMITS, type ProgramKind } from "./host-program.ts";

/** The description beside a voice's file; other programs may have written it. */
interface PiperVoice {
  readonly audio?: { readonly sample_rate?: unknown; readonly quality?: unknown };
  readonly language?: { readonly code?: unknown };
  readonly espeak?: { readonly voice?: unknown };
  readonly dataset?: unknown;
  readonly speaker_id_map?: Readonly<Record<string, unknown>>;
}

const ENDING = ".onnx";
const LOWEST_RATE = 8000;
const HIGHEST_RATE = 96_000;
const QUALITIES: Readonly<Record<string, Voice["quality"]>> = { medium: "enhanced", high: "premium" };

export const piper: ProgramKind = {
  file: "piper",
  // Another program, for configuring mice, has the same name.
  needsFolder: true,
  slowest: 0.5,
  fastest: 2,

  async voices({ name, voicesDir = "" }) {
    const stems = readdirSync(voicesDir)
      .filter((file) => file.endsWith(ENDING))
      .map((file) => file.slice(0, -ENDING.length))
      .sort();
    return stems.flatMap((stem) => voicesOf(name, stem, read(voicesDir, stem)));
  },

  async say({ path, env, voicesDir = "" }, { voice, text, speed }, signal) {
    // A speaker's name may contain a colon.
    const [stem = "", ...speaker] = voice.split(":");
    const { audio, speaker_id_map: speakers } = read(voicesDir, stem);
    const command = [path, "--model", join(voicesDir, stem + ENDING), "--output_raw"];
    const pace = ["--length_scale", (1 / speed).toFixed(3)];
    const who = speaker.length === 0 ? [] : ["--speaker", String(speakers?.[speaker.join(":")])];
    const input = `${text}\n`;
    const bytes = await programOutput([...command, ...pace, ...who], { ...SOUND_LIMITS, env, input }, signal);
    return { sampleRate: Number(audio?.sample_rate), samples: readSamples(bytes) };
  },
};

/** Reads a description; empty when it is invalid, so that its voice is not offered. */
function read(folder: string, stem: string): PiperVoice {
  const path = join(folder, `${stem}${ENDING}.json`);
  try {
    return existsSync(path) ? (JSON.parse(readFileSync(path, "utf8")) as PiperVoice) : {};
  } catch {
    return {};
  }
}

/** Returns one voice for each speaker. */
function voicesOf(program: string, stem: string, description: PiperVoice): Voice[] {
  const { audio, language, espeak, dataset, speaker_id_map: speakers = {} } = description;
  const locale = language?.code ?? espeak?.voice;
  const rate = Number(audio?.sample_rate);
  if (typeof locale !== "string" || !(rate >= LOWEST_RATE && rate <= HIGHEST_RATE && Number.isInteger(rate))) return [];
  const name = typeof dataset === "string" && dataset !== "" ? dataset : stem;
  const whole = {
    id: `${program}:${stem}`,
    name,
    locale: languageTag(locale),
    gender: "unspecified",
    quality: QUALITIES[String(audio?.quality)] ?? "compact",
  } as const;
  const known = Object.keys(speakers).filter((speaker) => Number.isInteger(speakers[speaker]));
  if (known.length < 2) return [whole];
  return known.map((speaker) => ({ ...whole, id: `${whole.id}:${speaker}`, name: `${name} ${speaker}` }));
}
