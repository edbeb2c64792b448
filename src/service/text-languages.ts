// Chooses the recognition engine and data for the languages of a text.

import { SvcError } from "../domain/errors.ts";
import { PPOCR_LANGUAGES, type LanguageData, type TextTask } from "../domain/recognition.ts";
import { tessdataName } from "../domain/tessdata-names.ts";
import type { Tessdata } from "../store/tessdata.ts";

interface LanguageDeps {
  readonly tessdata: Pick<Tessdata, "names" | "find">;
  /** true: PP-OCR reads the languages that it recognises better. */
  readonly ppocr?: boolean;
  /** Languages for requests that name none; without them: English, or any installed language. */
  readonly usual?: readonly string[];
}

type Reading = Pick<TextTask, "engine" | "languages">;

const ENGLISH = "eng";

export class TextLanguages {
  private readonly usual: Reading | undefined;

  /** Throws SvcError `invalid_value` about the default languages. */
  constructor(private readonly deps: LanguageDeps) {
    const { usual = [] } = deps;
    if (usual.length > 0) this.usual = this.named(usual, "languages");
  }

  /**
   * Returns the engine and data for the languages that a client names in `field`. Throws SvcError `invalid_value` about
   * languages without data, `engine_unavailable` when none are named and no data is installed.
   */
  of(tags: readonly string[], field: string): Reading {
    return tags.length > 0 ? this.named(tags, field) : (this.usual ?? this.installedLanguages());
  }

  private named(tags: readonly string[], field: string): Reading {
    if (this.deps.ppocr && areForPpocr(tags)) return { languages: [], engine: "ppocr" };
    const { tessdata } = this.deps;
    const found = tags.map((tag): LanguageData => tessdata.find(tessdataName(tag) ?? "") ?? this.refuse(field));
    return { languages: [...new Map(found.map((data) => [data.name, data])).values()] };
  }

  private installedLanguages(): Reading {
    const { tessdata } = this.deps;
    const found = tessdata.find(ENGLISH) ?? tessdata.find(tessdata.names()[0] ?? "");
    if (found) return { languages: [found] };
    const message = "There is no data for text recognition here: svc pull tessdata:eng downloads it for English.";
    throw new SvcError("engine_unavailable", message);
  }

  private refuse(field: string): never {
    const { tessdata, ppocr } = this.deps;
    const known = tessdata.names();
    const there = known.length === 0 ? "none" : known.join(", ");
    const { own, beside } = PPOCR_LANGUAGES;
    const others = ppocr ? ` PP-OCR reads ${own.join(", ")}, alone or with ${beside.join(", ")}.` : "";
    const message = `'${field}' must be language tags that there is data for (${there}); svc pull tessdata:NAME downloads more, --ocr-data names a folder of it.${others}`;
    throw new SvcError("invalid_value", message, { param: field });
  }
}

/** Returns whether the tags include Chinese or Japanese, and no language that PP-OCR cannot read together with them. */
function areForPpocr(tags: readonly string[]): boolean {
  const { own, beside } = PPOCR_LANGUAGES;
  const isIn = (known: readonly string[]) => (tag: string) => known.includes(tessdataName(tag) ?? "");
  return tags.some(isIn(own)) && tags.every(isIn([...own, ...beside]));
}
