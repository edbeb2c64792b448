// Trained data for text recognition, wherever it lies: one file a language or script.

import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
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

export class Tessdata {
  /** `folders`: those that come first win where both have a language. Any may be missing. */
  constructor(private readonly folders: readonly string[]) {}

  /** Names of all data that there is, sorted. */
  names(): string[] {
    const names = this.folders.flatMap((folder) => namesIn(folder));
    return [...new Set(names)].toSorted();
  }

  /** The data of this name; undefined: there is none. */
  find(name: string): LanguageData | undefined {
    if (!this.names().includes(name)) return undefined;
    const path = this.folders.map((folder) => join(folder, `${name}${ENDING}`)).find((file) => existsSync(file));
    return path === undefined ? undefined : { name, path };
  }
}

function namesIn(folder: string): string[] {
  try {
    const names = readdirSync(folder).filter((name) => name.endsWith(ENDING));
    return names.map((name) => name.slice(0, -ENDING.length)).filter((name) => !NO_LANGUAGES.has(name));
  } catch {
    return [];
  }
}
