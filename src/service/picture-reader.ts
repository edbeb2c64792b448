// Reads pictures in a conversation as text.

import { fieldError, SvcError } from "../domain/errors.ts";
import type { ImageSource } from "../domain/media.ts";
import type { TextWish } from "../domain/recognition.ts";
import type { MediaLimits } from "../media/limits.ts";
import { imageBytes } from "../media/load-media.ts";
import { atField } from "../media/refusal.ts";
import { pageMarkdown } from "../text/page-markdown.ts";
import type { InputReader, Readable } from "./input-readers.ts";
import type { RecognitionService } from "./recognition.ts";

const LARGEST_BYTES = 25_000_000;
/** Maximum pages of a document that stands in place of a picture. */
const MOST_PAGES = 50;
/** Maximum characters of its text: no prompt takes more, and documents may contain millions. */
const MOST_CHARACTERS = 1_000_000;

/** Reads pictures. Reading one throws `invalid_value`, `unsupported_media_input` or `unprocessable_media`. */
export const pictureReader = (recognition: RecognitionService, limits: MediaLimits): InputReader<ImageSource> => ({
  open: async ({ url, detail, languages = [] }, param, opening) => {
    const content = await atField(param, () => imageBytes(url, { ...limits, maxImageBytes: LARGEST_BYTES }, opening));
    const text: TextWish = {
      level: detail === "low" ? "fast" : "accurate",
      correction: true,
      languages,
      field: param.replace(/[^.]*$/, "languages"),
    };
    const work = { task: { text, tables: true as const }, maxPages: MOST_PAGES };
    const read: Readable["read"] = async (origin, signal) => {
      const model = recognition.model();
      const document = await recognition.documents.receive([content], param);
      const pages: string[] = [];
      let characters = 0;
      try {
        for await (const event of recognition.recognize([document], { ...origin, model, work }, signal, {})) {
          if (event.type !== "page") continue;
          const page = pageMarkdown(event.page);
          pages.push(page);
          characters += page.length;
          if (characters > MOST_CHARACTERS) throw tooMuch(param, `${MOST_CHARACTERS} characters of text`, "more");
        }
      } catch (error) {
        throw error instanceof SvcError && error.details.param === "max_pages"
          ? tooMuch(param, `${MOST_PAGES} pages`, "a document of more")
          : error;
      }
      const markdown = pages.filter((page) => page !== "").join("\n\n");
      return { kind: "image", model, text: markdown, pageCount: pages.length };
    };
    return { content, manner: [text.level, ...languages].join(" "), read };
  },
});

const tooMuch = (param: string, most: string, got: string) =>
  fieldError("unprocessable_media", param, `must have at most ${most}; got ${got}`);
