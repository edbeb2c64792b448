// Names of models that stand for longer ones of the hub.

import { PullError } from "./pull-error.ts";

/** Speech recognition models in whisper.cpp's format, as its authors publish them. */
const WHISPER = { prefix: "whisper:", full: "ggerganov/whisper.cpp:ggml-" } as const;

/** The usual ones and their sizes in MB, smallest first. `.en` knows English alone; q5 and q8 are quantized. */
const WHISPERS: Readonly<Record<string, number>> = {
  tiny: 78,
  "tiny.en": 78,
  "base-q5_1": 60,
  "base-q8_0": 82,
  base: 148,
  "base.en": 148,
  "small-q5_1": 190,
  small: 488,
  "small.en": 488,
  "medium-q5_0": 539,
  medium: 1534,
  "large-v3-turbo-q5_0": 574,
  "large-v3-turbo-q8_0": 874,
  "large-v3-turbo": 1625,
  "large-v3-q5_0": 1081,
  "large-v3": 3095,
};

/** How other programs write names of the hub. */
const HUB_PREFIX = /^(?:(?:hf|huggingface)\.co\/|hf:(?:\/\/)?)/i;

/** The name in full: `whisper:base` is ggerganov/whisper.cpp:ggml-base, `hf.co/owner/name` is owner/name; others are what they are. */
export function inFull(name: string): string {
  const { prefix, full } = WHISPER;
  return name.toLowerCase().startsWith(prefix) && name.length > prefix.length
    ? `${full}${name.slice(prefix.length)}`
    : name.replace(HUB_PREFIX, "");
}

const TESSDATA = "tessdata:";

/** Data for text recognition of a language, by the name that Tesseract has for it: deu. */
export const tessdataModel = (language: string): string => `${TESSDATA}${language}`;

/** The language of such a name; undefined: it is that of a model. */
export const tessdataLanguage = (name: string): string | undefined =>
  name.startsWith(TESSDATA) || `${name}:` === TESSDATA ? name.slice(TESSDATA.length) : undefined;

const COMPONENT = "component:";

/** What svc-slim lacks, likewise. */
export const componentOperand = (component: string): string => `${COMPONENT}${component}`;

export const componentNamed = (name: string): string | undefined =>
  name.startsWith(COMPONENT) ? name.slice(COMPONENT.length) : undefined;

/** Throws PullError, listing what there is, about the front of a short name alone. */
export function refusePrefixAlone(name: string): void {
  if (name.replace(/:$/, "").toLowerCase() !== WHISPER.prefix.slice(0, -1)) return;
  const lines = Object.entries(WHISPERS).map(
    ([model, megabytes]) => `  ${`${WHISPER.prefix}${model}`.padEnd(28)} ${`${megabytes} MB`.padStart(8)}`,
  );
  throw new PullError(`There are several Whisper models: name one.\n${lines.join("\n")}`);
}
