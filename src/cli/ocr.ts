// `svc ocr FILE…`: recognises text in pictures and documents; prints text, Markdown, tables or JSON.

import type { Config } from "../config/config.ts";
import type { FlagsOf } from "./commands.ts";
import { eachFile, expectOne } from "./each-file.ts";
import { withApi, type Api, type Asked } from "./in-process.ts";
import { resultFiles, type Formats } from "./result-files.ts";

const FORMATS: Formats = { text: "txt", json: "json", csv: "csv", markdown: "md" };
const ROUTE = "/v1/vision/ocr";
const MOST_PAGES = 1000;
const OPTIONS = { languages: "--language", pages: "--pages" };

const MEASURE = {
  amount: (done: number, total: number | undefined) =>
    total === undefined ? "" : `${done} of ${total} ${total === 1 ? "page" : "pages"}`,
  rate: (speed: number) => `${(60 * speed).toFixed(0)} pages/min`,
};

/**
 * Recognises the files in order; `-` is standard input. When one of several fails, the failure is reported and the
 * others continue. Returns the exit code. Throws ExitError.
 */
export async function ocr(config: Config, files: readonly string[], flags: FlagsOf<"ocr">): Promise<number> {
  const { language, pages } = flags;
  const results = resultFiles(files, FORMATS, flags);
  const common = {
    ...(language !== undefined && { languages: language.split(",") }),
    ...(pages !== undefined && { pages }),
    max_pages: MOST_PAGES,
  };
  expectOne(files);
  return withApi(config, "ppocr", async ({ ask, signal, requests }) => {
    const work = async (path: string, id: string) => {
      const call = { id, options: OPTIONS };
      if (results.format === "csv") return tablesOf(ask, { ...common, file: path }, call);
      const body = { ...common, file: path, response_format: results.format };
      return (await ask(ROUTE, body, call)).text();
    };
    await eachFile(files, {
      config,
      results,
      failure: "files could not be read",
      measure: MEASURE,
      progressOf: (id) => requests.progressOf(id),
      signal,
      work,
    });
  });
}

/** Returns all tables as CSV, separated by empty lines. */
async function tablesOf(ask: Api["ask"], body: object, call: Asked): Promise<string> {
  const response = await ask(ROUTE, { ...body, mode: "table" }, call);
  const { documents } = (await response.json()) as { documents: { tables: { csv_data: string }[] }[] };
  const tables = documents.flatMap((document) => document.tables);
  return tables.map((table) => table.csv_data.trimEnd()).join("\n\n");
}
