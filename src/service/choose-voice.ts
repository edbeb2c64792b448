// Which voice says a text, of those of all sources.

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

/** A language tag with what it leaves out, as all write it, and its language: fr is fr-FR, and cmn is zh. */
interface Language {
  readonly tag: string;
  readonly language: string;
}

/** What a request says of the voice that it wants. */
export interface VoiceWish {
  /** Id or name; absent: the usual one. */
  readonly name?: string | undefined;
  readonly locale?: string | undefined;
  /** What is said: without a locale, its script may tell the language. */
  readonly text?: string;
}

/** The public convention's voices by how they sound; each stands for the voice here that comes nearest. */
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
 * The voice of this id, else the nearest one to a name of the public convention, else the first for the language. Programs of
 * the host speak only what no model does. `known` is in the order of precedence. Throws SvcError `not_found` about a name,
 * `invalid_value` about a language, of the locale or of the text's script, or a voice that needs what the host does not have.
 */
export function chooseVoice(known: readonly OfferedVoice[], { name, locale, text = "" }: VoiceWish): OfferedVoice {
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
  const sentence = "names no voice of this server; GET /v1/audio/voices and svc say --voices list them";
  throw fieldError("not_found", "voice", sentence);
}

/** The voices of a source. */
export const offer = (backend: Backend<SpeechPort>, voices: readonly Voice[]): OfferedVoice[] =>
  voices.map((voice) => ({ voice, backend, spoken: readTag(voice.locale) }));

/** Those that can speak on this host. */
export const ready = (known: readonly OfferedVoice[]): OfferedVoice[] =>
  known.filter(({ voice }) => voice.needs === undefined);

/** The names of the public convention that stand for each voice. */
export function aliasesOf(offered: readonly OfferedVoice[]): ReadonlyMap<OfferedVoice, readonly string[]> {
  const aliases = new Map<OfferedVoice, string[]>();
  const usual = readTag(USUAL_LOCALE);
  for (const name of Object.keys(NAMES)) {
    const voice = standIn(offered, name, usual);
    if (voice) aliases.set(voice, [...(aliases.get(voice) ?? []), name]);
  }
  return aliases;
}

/** Undefined for a name that the public convention does not have. */
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

/** Those of which it is true; where there are none, all. */
function preferring(offered: readonly OfferedVoice[], isBetter: (one: OfferedVoice) => boolean) {
  const better = offered.filter(isBetter);
  return better.length > 0 ? better : offered;
}

/** Those of models; where there are none, those of the first program. */
function mostPreferred(offered: readonly OfferedVoice[]): readonly OfferedVoice[] {
  const sources = [...new Set(offered.map(({ backend }) => backend))];
  const models = sources.filter(({ engine }) => engine.status().origin === "model");
  const best = models.length > 0 ? models : sources.slice(0, 1);
  return offered.filter(({ backend }) => best.includes(backend));
}

/** Whether a voice speaks a language, whatever the country. */
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
