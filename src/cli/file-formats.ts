// The formats of the files that commands write, and the name extensions that stand for them.

import { IMAGE_FORMATS } from "../domain/image.ts";
import { SPEECH_FORMATS } from "../domain/speech.ts";

/** The formats of a command with their name extensions; the first is the default. */
export type Formats = Readonly<Record<string, string>>;

export const TRANSCRIPT_FORMATS: Formats = { text: "txt", srt: "srt", vtt: "vtt", json: "json", verbose_json: "json" };
export const OCR_FORMATS: Formats = { text: "txt", markdown: "md", csv: "csv", json: "json" };

/** Formats whose names are their extensions, and further extensions with their formats. */
export interface NamedFormats {
  readonly formats: readonly string[];
  readonly others: Readonly<Record<string, string>>;
}

export const SPEECH_FILES = { formats: SPEECH_FORMATS, others: { ogg: "opus" } } as const satisfies NamedFormats;
export const IMAGE_FILES = { formats: IMAGE_FORMATS, others: { jpg: "jpeg" } } as const satisfies NamedFormats;

/** Lists all name extensions that stand for a format: `.txt, .srt, .vtt or .json`. */
export const extensionsOf = (formats: Formats): string => listed([...new Set(Object.values(formats))]);

/** Like `extensionsOf`. */
export const extensionsOfNamed = ({ formats, others }: NamedFormats): string =>
  listed([...formats, ...Object.keys(others)]);

function listed(extensions: readonly string[]): string {
  const dotted = extensions.map((extension) => `.${extension}`);
  return `${dotted.slice(0, -1).join(", ")} or ${dotted.at(-1)}`;
}
