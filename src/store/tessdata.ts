// Trained data for text recognition, wherever it lies: one file a language or script.

import { readdirSync } from "node:fs";
import { basename, join } from "node:path";
import type { LanguageData } from "../domain/recognition.ts";

const ENDING = ".traineddata";
/** Data about orientation and formulas, of which Tesseract makes another use. */
const NO_LANGUAGES: ReadonlySet<string> = new Set(["osd", "equ", "snum"]);
/** Where packages of the system put it. */
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

/** A folder of data; `file`: one file of it, which may be unpacked only when it is read. */
type DataSource = string | { readonly file: string };

export class Tessdata {
  /** `sources`: those that come first win where several have a language. Any may be missing. */
  constructor(private readonly sources: readonly DataSource[]) {}

  /** Names of all data that there is, sorted. */
  names(): string[] {
    return [...new Set(this.sources.flatMap(namesIn))].toSorted();
  }

  /** The data of this name; undefined: there is none. */
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
