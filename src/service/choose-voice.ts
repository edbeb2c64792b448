// Chooses the voice for a text among the voices of all sources.

import { fieldError, SvcError } from "../domain/errors.ts";
import { languageOfScript } from "../domain/script-language.ts";
import type { Voice } from "../domain/speech.ts";
import type { SpeechPort } from "../engine/speech/port.ts";
import type { Backend } from "./model-router.ts";

/** A voice and the source that it belongs to. */
export interface OfferedVoice {
  readonly voice: Voice;
  readonly backend: Backend<SpeechPort>;
  readonly spoken: Language;
}

/**
 * A language tag in its maximized form, so that all spellings compare equal, and its language: `fr` has the tag of
 * `fr-FR`, and `cmn` the language `zh`.
 */
interface Language {
  readonly tag: string;
  readonly language: string;
}

/** The voice that a request specifies. */
export interface VoiceRequest {
  /** Id or name; undefined: the default voice. */
  readonly name?: string | undefined;
  readonly locale?: string | undefined;
  /** Text to speak; without a locale, its script may determine the language. */
  readonly text?: string;
}

/** Voice names of the OpenAI-compatible API with their gender; each name stands for the closest voice here. */
const NAMES: Readonly<Record<string, Voice["gender"]>> = {
  alloy: "female",
  ash: "male",
  ballad: "male",
  cedar: "male",
  coral: "female",
  echo: "male",
  fable: "male",
  marin: "female",
  nova: "female",
  onyx: "male",
  sage: "female",
  shimmer: "female",
  verse: "male",
};
const USUAL_LOCALE = "en-US";

/**
 * Returns the voice of this id, else the one closest to an OpenAI voice name, else the first for the language. Programs
 * of the host only speak what no model does. `known` is in order of precedence. Throws SvcError `not_found` about a
 * name, and `invalid_value` about a language (of the locale or the text's script) or a voice whose program is missing.
 */
export function chooseVoice(known: readonly OfferedVoice[], { name, locale, text = "" }: VoiceRequest): OfferedVoice {
  const offered = ready(known);
  const own = known.find(({ voice }) => voice.id === name);
  const language = locale ?? (own ? undefined : languageOfScript(text));
  const wanted = readTag(language ?? USUAL_LOCALE);
  const spoken = language === undefined ? offered : offered.filter((one) => speaks(one, wanted));
  if (own && !offered.includes(own)) throw needsProgram(own);
  if (spoken.length === 0) throw noneSpeaks(known, wanted, locale === undefined ? "input" : "locale");
  if (own && !spoken.includes(own)) throw speaksOther(own);
  const chosen = own ?? standIn(spoken, name, wanted);
  if (chosen) return chosen;
  const sentence = "names no voice that can speak here; svc say --voices and GET /v1/audio/voices list them";
  throw fieldError("not_found", "voice", sentence);
}

/** Returns the voices of a source. */
export const offer = (backend: Backend<SpeechPort>, voices: readonly Voice[]): OfferedVoice[] =>
  voices.map((voice) => ({ voice, backend, spoken: readTag(voice.locale) }));

/** Returns the voices that can speak on this host. */
export const ready = (known: readonly OfferedVoice[]): OfferedVoice[] =>
  known.filter(({ voice }) => voice.needs === undefined);

/** Returns the OpenAI voice names that stand for each voice. */
export function aliasesOf(offered: readonly OfferedVoice[]): ReadonlyMap<OfferedVoice, readonly string[]> {
  const aliases = new Map<OfferedVoice, string[]>();
  const usual = readTag(USUAL_LOCALE);
  for (const name of Object.keys(NAMES)) {
    const voice = standIn(offered, name, usual);
    if (voice) aliases.set(voice, [...(aliases.get(voice) ?? []), name]);
  }
  return aliases;
}

/** Returns the voice closest to an OpenAI voice name, or the default voice; undefined for any other name. */
function standIn(
  offered: readonly OfferedVoice[],
  name: string | undefined,
  wanted: Language,
): OfferedVoice | undefined {
  if (name !== undefined && !Object.hasOwn(NAMES, name)) return undefined;
  const best = mostPreferred(offered);
  const namesake = best.find(({ voice }) => name !== undefined && voice.id.endsWith(`_${name}`));
  if (namesake) return namesake;
  const near = preferring(best, (one) => speaks(one, wanted));
  const alike = preferring(near, ({ voice }) => name === undefined || voice.gender === NAMES[name]);
  return preferring(alike, ({ spoken }) => spoken.tag === wanted.tag)[0];
}

/** Returns the voices for which `isBetter` is true; all voices if there are none. */
function preferring(offered: readonly OfferedVoice[], isBetter: (one: OfferedVoice) => boolean) {
  const better = offered.filter(isBetter);
  return better.length > 0 ? better : offered;
}

/** Returns the voices of models; without any, those of the first program. */
function mostPreferred(offered: readonly OfferedVoice[]): readonly OfferedVoice[] {
  const sources = [...new Set(offered.map(({ backend }) => backend))];
  const models = sources.filter(({ engine }) => engine.status().origin === "model");
  const best = models.length > 0 ? models : sources.slice(0, 1);
  return offered.filter(({ backend }) => best.includes(backend));
}

/** Returns whether a voice speaks a language, in any country's variant. */
const speaks = ({ spoken }: OfferedVoice, { language }: Language): boolean => spoken.language === language;

function readTag(text: string): Language {
  const tag = text.replaceAll("_", "-").toLowerCase();
  try {
    const whole = new Intl.Locale(tag).maximize();
    return { tag: whole.toString(), language: whole.language };
  } catch {
    return { tag, language: tag.split("-", 1)[0] ?? "" };
  }
}

function noneSpeaks(known: readonly OfferedVoice[], wanted: Language, param: "locale" | "input"): SvcError {
  const spoken = [...new Set(ready(known).map(({ voice }) => voice.locale))].toSorted().join(", ");
  const needs = known.find((one) => speaks(one, wanted))?.voice.needs;
  const remedy =
    needs === undefined ? "" : ` With the program ${needs} on the server's host there is one for this language.`;
  const got = param === "input" ? `; got a text in the script of ${wanted.language}` : "";
  const message = `'${param}' must be ${param === "input" ? "in " : ""}a language that a voice speaks: ${spoken}${got}.${remedy}`;
  return new SvcError("invalid_value", message, { param });
}

const needsProgram = ({ voice }: OfferedVoice): SvcError =>
  fieldError("invalid_value", "voice", `needs the program ${voice.needs}, which is not installed on the server's host`);

const speaksOther = ({ voice }: OfferedVoice): SvcError =>
  fieldError("invalid_value", "locale", `must be the language of the voice, ${voice.locale}`);
