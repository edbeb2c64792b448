// Trained data for tests that perform real text recognition.

import { existsSync } from "node:fs";
import { join } from "node:path";
import type { TextTask } from "../../src/domain/recognition.ts";

const build = join(import.meta.dir, "../../vendor/.build");
const path = join(build, "recognition/current/eng.traineddata");
const library = join(build, "tesseract/current/libtesseract.so");

/** English, as the build provides it; undefined when the build has not run. */
export const english: TextTask | undefined = existsSync(path)
  ? { languages: [{ name: "eng", path }], level: "accurate", correction: true }
  : undefined;

/** The reason given when tests that need this data are skipped. */
export const NO_ENGLISH = "needs npm run build:native";

/** The native library, where the build has fetched it. */
export const tesseractLibrary: string | undefined = existsSync(library) ? library : undefined;
export const NO_LIBRARY = "needs the native Tesseract, which npm run build:native fetches with Maven on Linux";
