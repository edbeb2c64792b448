// Trained data for tests that really recognise text.

import { existsSync } from "node:fs";
import { join } from "node:path";
import type { TextTask } from "../../src/domain/recognition.ts";

const path = join(import.meta.dir, "../../vendor/.build/recognition/current/eng.traineddata");

/** English, as the build brings it; undefined where nothing was built. */
export const english: TextTask | undefined = existsSync(path)
  ? { languages: [{ name: "eng", path }], level: "accurate", correction: true }
  : undefined;

/** Why tests are skipped that need it. */
export const NO_ENGLISH = "needs npm run build:native";
