// `svc ocr FILE…`: recognises text in pictures and documents; prints text, Markdown, tables or JSON.

import type { Config } from "../config/config.ts";
import { MOST_PAGES } from "../domain/recognition.ts";
import type { FlagsOf } from "./commands.ts";
import { eachFile } from "./each-file.ts";
import { OCR_FORMATS } from "./file-formats.ts";
import type { Api, Asked } from "./in-process.ts";

const ROUTE = "/v1/vision/ocr";
const OPTIONS = { languages: "--language", pages: "--pages" };

const MEASURE = {
  amount: (done: number, total: number | undefined) =>
    total === undefined ? "" : `${done} of ${total} ${total === 1 ? "page" : "pages"}`,
  rate: (speed: number) => `${(60 * speed).toFixed(0)} pages/min`,
};

/** Recognises the files; `-` is standard input. Returns the exit code. Throws as `withApi` does. */
export function ocr(config: Config, files: readonly string[], flags: FlagsOf<"ocr">): Promise<number> {
  const { language, pages } = flags;
  const common = {
    ...(language !== undefined && { languages: language.split(",").map((tag) => tag.trim()) }),
    ...(pages !== undefined && { pages }),
    max_pages: MOST_PAGES,
  };
  return eachFile(config, files, flags, {
    formats: OCR_FORMATS,
    uses: "ppocr",
    failure: "files could not be read",
    measure: MEASURE,
    work: async (ask, { path, id, format }) => {
      const call = { id, options: OPTIONS };
      if (format === "csv") return tablesOf(ask, { ...common, file: path }, call);
      return (await ask(ROUTE, { ...common, file: path, response_format: format }, call)).text();
    },
  });
}

/** Returns all tables as CSV, separated by empty lines. */
async function tablesOf(ask: Api["ask"], body: object, call: Asked): Promise<string> {
  const response = await ask(ROUTE, { ...body, mode: "table" }, call);
  const { documents } = (await response.json()) as { documents: { tables: { csv_data: string }[] }[] };
  const tables = documents.flatMap((document) => document.tables);
  return tables.map((table) => table.csv_data.trimEnd()).join("\n\n");
}
