// Writes everything that `bun build.ts docs` generates. It needs no native library and no network.

import { join } from "node:path";
import { errorsPage } from "./errors.ts";
import { apiPage } from "./http-api.ts";
import { metricsPage } from "./metrics.ts";
import { environmentPage, exampleConfig, exitCodesPage, manPage, optionsPage } from "./options.ts";

/** The folder of the pages. */
export const REFERENCE = join(import.meta.dir, "../reference");

/** Returns the contents of the pages by file name. */
export async function generatedPages(): Promise<ReadonlyMap<string, string>> {
  return new Map([
    ["options.md", optionsPage()],
    ["environment.md", environmentPage()],
    ["exit-codes.md", exitCodesPage()],
    ["config.example.toml", exampleConfig()],
    ["svc.1", manPage()],
    ["errors.md", errorsPage()],
    ["metrics.md", metricsPage()],
    ["http-api.md", await apiPage()],
  ]);
}

/** Writes the pages and returns their names. */
export async function writeReference(): Promise<string[]> {
  const pages = await generatedPages();
  for (const [name, content] of pages) await Bun.write(join(REFERENCE, name), content);
  return [...pages.keys()];
}
