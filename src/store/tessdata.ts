// Finds trained data for text recognition in several folders: one file per language or script.

import { readdirSync } from "node:fs";
import { basename, join } from "node:path";
import type { LanguageData } from "../domain/recognition.ts";

const ENDING = ".traineddata";
/** Data for orientation and formulas, which Tesseract does not use as languages. */
const NO_LANGUAGES: ReadonlySet<string> = new Set(["osd", "equ", "snum"]);
/** Folders where system packages install the data. */
export const SYSTEM_FOLDERS: readonly string[] = [
  "/usr/share/tesseract-ocr/5/tessdata",
  "/usr/share/tesseract-ocr/5/tessdata/script",
  "/usr/share/tesseract-ocr/4.00/tessdata",
  "/usr/share/tessdata",
  "/usr/share/tesseract/tessdata",
  "/usr/local/share/tessdata",
  "/opt/homebrew/share/tessdata",
  "/opt/local/share/tessdata",
];

/** A folder of data; `file`: a single data file, which may be unpacked only when it is read. */
type DataSource = string | { readonly file: string };

export class Tessdata {
  /** `sources`: the first source with a language wins. Sources may be missing. */
  constructor(private readonly sources: readonly DataSource[]) {}

  /** Returns the sorted names of all available data. */
  names(): string[] {
    return [...new Set(this.sources.flatMap(namesIn))].toSorted();
  }

  /** Returns the data of this name; undefined when there is none. */
  find(name: string): LanguageData | undefined {
    const source = this.sources.find((candidate) => namesIn(candidate).includes(name));
    if (source === undefined) return undefined;
    return { name, path: typeof source === "string" ? join(source, `${name}${ENDING}`) : source.file };
  }
}

function namesIn(source: DataSource): string[] {
  const names = (typeof source === "string" ? filesIn(source) : [basename(source.file)])
    .filter((name) => name.endsWith(ENDING))
    .map((name) => name.slice(0, -ENDING.length));
  return names.filter((name) => !NO_LANGUAGES.has(name));
}

function filesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
