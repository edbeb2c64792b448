// Trained data for tests that perform real text recognition.

import { existsSync } from "node:fs";
import { join } from "node:path";
import type { TextTask } from "../../src/domain/recognition.ts";

const path = join(import.meta.dir, "../../vendor/.build/recognition/current/eng.traineddata");

/** English, as the build provides it; undefined when the build has not run. */
export const english: TextTask | undefined = existsSync(path)
  ? { languages: [{ name: "eng", path }], level: "accurate", correction: true }
  : undefined;

/** The reason given when tests that need this data are skipped. */
export const NO_ENGLISH = "needs npm run build:native";
