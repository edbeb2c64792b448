// `svc ocr FILE…`: the text of pictures and documents, as text, Markdown, tables or all that is known.

import type { Config } from "../config/config.ts";
import { checkFiles, eachFile } from "./each-file.ts";
import { withApi, type Ask } from "./in-process.ts";

const ENDINGS: Readonly<Record<string, string>> = { text: "txt", json: "json", csv: "csv", markdown: "md" };
const ROUTE = "/v1/vision/ocr";

export interface OcrFlags {
  readonly format?: string;
  /** Of the text: tags with commas between them. */
  readonly language?: string;
  /** As `1-3,7`. */
  readonly pages?: string;
  /** Folder for the results, one file each; absent: they go to standard output. */
  readonly output?: string;
}

/** Reads the files one after the other; `-` is standard input. Returns the exit code. Throws ExitError. */
export async function ocr(config: Config, files: readonly string[], flags: OcrFlags): Promise<number> {
  const { format = "text", language, pages, output } = flags;
  const results = { endings: ENDINGS, format, ...(output !== undefined && { output }) };
  checkFiles(files, results);
  const common = {
    ...(language !== undefined && { languages: language.split(",") }),
    ...(pages !== undefined && { pages }),
    max_pages: 1000,
  };
  return withApi(config, (ask, signal) =>
    eachFile(files, results, signal, async (path) => {
      if (format === "csv") return tablesOf(ask, path, common);
      return (await ask(ROUTE, { ...common, file: path, response_format: format })).text();
    }),
  );
}

/** All tables, an empty line between them. */
async function tablesOf(ask: Ask, path: string, common: object): Promise<string> {
  const response = await ask(ROUTE, { ...common, file: path, mode: "table" });
  const { documents } = (await response.json()) as { documents: { tables: { csv_data: string }[] }[] };
  const tables = documents.flatMap((document) => document.tables);
  return tables.map((table) => table.csv_data.trimEnd()).join("\n\n");
}
