// The default languages for text recognition, as checked at startup.

import { beforeEach, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { textLanguages } from "../../src/cli/recognition-engine.ts";
import { temporaryFolder } from "../support/folders.ts";

let modelsDir: string;
beforeEach(() => void (modelsDir = temporaryFolder()));

test("a default language needs trained data, otherwise the start says how to download it", () => {
  const embeddedTessdata = join(modelsDir, "eng.traineddata");
  const languages = (ocrLanguages: readonly string[], ocrEngine: "tesseract" | "ppocr" = "tesseract") =>
    textLanguages({ modelsDir, ocrEngine, ocrLanguages }, { embeddedTessdata }, {}).of([], "languages");
  const english = { name: "eng", path: embeddedTessdata };
  expect(languages([])).toEqual({ languages: [english] });
  expect(() => languages(["x-none", "en"])).toThrow(/^--ocr-language must be language tags .*svc pull tessdata:NAME/);
  expect(() => languages(["tlh"])).toThrow("--ocr-language");
  expect(languages(["ja"], "ppocr")).toEqual({ engine: "ppocr", languages: [] });
  const path = join(modelsDir, "tessdata", "jpn.traineddata");
  mkdirSync(join(modelsDir, "tessdata"));
  writeFileSync(path, "");
  expect(languages(["ja", "en"])).toEqual({ languages: [{ name: "jpn", path }, english] });
});

test("trained data is found in Tesseract's own folder, after svc's", () => {
  const hostData = join(modelsDir, "host");
  mkdirSync(hostData);
  for (const name of ["eng", "tlh"]) writeFileSync(join(hostData, `${name}.traineddata`), "");
  const embeddedTessdata = join(modelsDir, "eng.traineddata");
  const config = { modelsDir, ocrEngine: "tesseract", ocrLanguages: ["tlh", "en"] } as const;
  const found = textLanguages(config, { embeddedTessdata }, { TESSDATA_PREFIX: hostData }).of([], "languages");
  expect(found.languages.map(({ path }) => path)).toEqual([join(hostData, "tlh.traineddata"), embeddedTessdata]);
});
