// Expands short names of models to those of the hub.

import { PullError } from "./pull-error.ts";

/** Speech recognition models in whisper.cpp's format, as its authors publish them. */
const WHISPER = { prefix: "whisper:", full: "ggerganov/whisper.cpp:ggml-" } as const;

/** Common models, ordered by parameters, and their sizes in MB. `.en` is English only; q5 and q8 are quantized. */
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

/** Prefixes of hub names in other programs. */
const HUB_PREFIX = /^(?:(?:hf|huggingface)\.co\/|hf:(?:\/\/)?)/i;

/** The URL of a file at the hub, or of the page that shows it, as `withoutQuery` returns it. */
const HUB_FILE = /^https?:\/\/(?:www\.)?(?:huggingface|hf)\.co\/([^/]+\/[^/]+)\/(?:blob|raw|resolve)\/main\/(.+)$/is;

/** Returns a URL without its query and fragment. Clients choose how long it is. */
export const withoutQuery = (url: string): string => url.split(/[?#]/, 1)[0] ?? "";

/**
 * Returns the full name: `whisper:base` is ggerganov/whisper.cpp:ggml-base, `hf.co/owner/name` is owner/name, the URL
 * of a file at the hub is owner/name:FILE. Other names are returned unchanged.
 */
export function inFull(name: string): string {
  const { prefix, full } = WHISPER;
  if (name.toLowerCase().startsWith(prefix) && name.length > prefix.length)
    return `${full}${name.slice(prefix.length)}`;
  const [, repo, file] = HUB_FILE.exec(withoutQuery(name)) ?? [];
  return repo === undefined ? name.replace(HUB_PREFIX, "") : `${repo}:${file}`;
}

const TESSDATA = "tessdata:";

/** Returns the name of the data for a language, given by Tesseract's name, such as deu. */
export const tessdataModel = (language: string): string => `${TESSDATA}${language}`;

/** Returns the language of such a name; undefined if the name is a model's. */
export const tessdataLanguage = (name: string): string | undefined =>
  name.startsWith(TESSDATA) || `${name}:` === TESSDATA ? name.slice(TESSDATA.length) : undefined;

const COMPONENT = "component:";

/** Returns the name of a component that svc-slim lacks, for `svc pull`. */
export const componentOperand = (component: string): string => `${COMPONENT}${component}`;

export const componentNamed = (name: string): string | undefined =>
  name.startsWith(COMPONENT) ? name.slice(COMPONENT.length) : undefined;

/** Throws PullError, with a list of the models, if the name is only the prefix of a short name. */
export function refusePrefixAlone(name: string): void {
  if (name.replace(/:$/, "").toLowerCase() !== WHISPER.prefix.slice(0, -1)) return;
  const lines = Object.entries(WHISPERS).map(
    ([model, megabytes]) => `  ${`${WHISPER.prefix}${model}`.padEnd(28)} ${`${megabytes} MB`.padStart(8)}`,
  );
  throw new PullError(`There are several Whisper models: name one.\n${lines.join("\n")}`);
}
