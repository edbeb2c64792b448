// Builds svc. `bun build.ts` lists the targets; npm scripts call them.

import { existsSync } from "node:fs";
import { basename, join } from "node:path";
import { parseArgs } from "node:util";
import packageJson from "./package.json" with { type: "json" };
import { buildBinary, platformOf, writePages } from "./packaging/binary.ts";
import { BINARIES, packComponents, placeArchives, requireAll } from "./packaging/components.ts";
import { buildAllMinilm } from "./vendor/all-minilm.ts";
import { buildAudio } from "./vendor/audio.ts";
import { buildHibari } from "./vendor/hibari.ts";
import { buildKokoro } from "./vendor/kokoro.ts";
import { buildLlamaServer } from "./vendor/llama-server.ts";
import { buildLlama, flavours, usualFlavour, type Flavour } from "./vendor/llama.ts";
import { buildMedia } from "./vendor/media.ts";
import { BuildError, filesIn, step } from "./vendor/run.ts";
import { libraryName } from "./vendor/shim.ts";
import { buildSileroVad } from "./vendor/silero-vad.ts";
import { buildSmollm2 } from "./vendor/smollm2.ts";
import { buildImage } from "./vendor/stable-diffusion.ts";
import { CPP_RUNTIME, wrongTarget } from "./vendor/target.ts";
import { buildEnglishData } from "./vendor/tessdata-eng.ts";
import { buildTesseract } from "./vendor/tesseract.ts";
import { buildWhisperBase } from "./vendor/whisper-base.ts";
import { buildWhisperTools } from "./vendor/whisper-tools.ts";
import { buildWhisper } from "./vendor/whisper.ts";

const USAGE = `usage: bun build.ts <target> [--flavour ${flavours.join("|")}]
  native   the native libraries, the embedding model, the voice and the data for text recognition, for runs from source
  media    native, the libraries for images and sound, and the models for speech to text (two minutes, once)
  all      dist/svc, the one executable
  slim     all, and dist/svc-slim, which downloads what most people do not need
  package  slim, and dist/release: what this platform adds to a release
  release  completes dist/release, when the files of all platforms are there: checksums, installer, manifests for package managers
  bench    native, the programs of llama.cpp and whisper.cpp to compare with, with the same libraries, Kokoro and SmolLM2 (some minutes, once)
  notes    prints the notes of this version's release, which CHANGELOG.md must have
  docs     docs/reference, from the code; needs no library`;

/** The executables that each target builds. */
const EXECUTABLES = { all: ["svc"], slim: BINARIES, package: BINARIES } as const;
const TARGETS = ["native", "media", ...Object.keys(EXECUTABLES), "release", "notes", "bench", "docs"];
const out = join(import.meta.dir, "vendor/.build");

/** Returns the files of svc-draw. */
const drawingModel = (): string[] => filesIn(join(import.meta.dir, "vendor/svc-draw"), /\.(safetensors|gguf)$/);

/** Returns the target and flavour from the arguments, or undefined when these are invalid. */
function readArguments(): { target: string; flavour: Flavour } | undefined {
  try {
    const { positionals, values } = parseArgs({ allowPositionals: true, options: { flavour: { type: "string" } } });
    const flavour = flavours.find((name) => name === (values.flavour ?? usualFlavour));
    const [target = "", ...rest] = positionals;
    const isKnown = TARGETS.includes(target) && rest.length === 0;
    return isKnown && flavour ? { target, flavour } : undefined;
  } catch {
    return undefined;
  }
}

const isImageLibrary = (path: string) => basename(path) === libraryName("image");
const isCppRuntime = (path: string) => CPP_RUNTIME.includes(basename(path));
const isExecutable = (target: string): target is keyof typeof EXECUTABLES => target in EXECUTABLES;

async function main(): Promise<void> {
  const given = readArguments();
  if (!given) {
    console.error(USAGE);
    process.exit(2);
  }
  if (wrongTarget !== undefined) throw new BuildError(wrongTarget);
  const { target, flavour } = given;
  if (target === "docs") {
    const { writeReference } = await import("./docs/generate/pages.ts");
    await step("wrote docs/reference", writeReference);
    return;
  }
  if (target === "notes") {
    const { notesOf } = await import("./packaging/notes.ts");
    console.log(notesOf(await Bun.file(join(import.meta.dir, "CHANGELOG.md")).text(), packageJson.version));
    return;
  }
  if (target === "release") {
    const { completeRelease } = await import("./packaging/release.ts");
    const releases = process.env["SVC_RELEASES"];
    if (!releases) throw new BuildError("SVC_RELEASES must name the address where the release is going to be.");
    await step("completed dist/release", () => completeRelease(releases));
    return;
  }
  // These take longer than everything else, so they are built only when the target needs them or an earlier run built
  // them.
  const isWanted = (folder: string) => target === "media" || isExecutable(target) || existsSync(join(out, folder));
  const llama = buildLlama(flavour);
  const media = () =>
    Promise.all([
      buildWhisperBase(),
      buildSileroVad(),
      ...[buildWhisper, buildMedia, buildAudio].map((build) => llama.then(() => build(flavour))),
    ]);
  const [{ libraries }, embeddingModel, voice, english, tesseract, [whisper, vad] = [], image] = await Promise.all([
    llama,
    buildAllMinilm(),
    buildHibari(),
    buildEnglishData(),
    buildTesseract(),
    isWanted("media") ? media() : undefined,
    isWanted("image") ? buildImage(flavour, llama) : undefined,
  ]);
  if (isExecutable(target)) {
    const native = filesIn(libraries);
    const files = {
      base: [
        ...native.filter((path) => !isImageLibrary(path)),
        join(import.meta.dir, "vendor/svc-mini/svc-mini-q8_0.gguf"),
        vad,
      ],
      embeddings: [embeddingModel],
      transcription: [whisper],
      speech: voice,
      // Of the other libraries, Tesseract and the image library need only the C++ runtime.
      recognition: [english, ...tesseract, ...(tesseract.length > 0 ? native.filter(isCppRuntime) : [])],
      images: [...drawingModel(), image, ...native.filter(isCppRuntime)],
    };
    if (target === "package") requireAll(files);
    const components = await packComponents(files, target === "package" ? "release" : "local");
    const pages = await step("bundled the pages", writePages);
    for (const name of EXECUTABLES[target]) await buildBinary(name, components, pages, platformOf(flavour));
    if (target !== "all") placeArchives(components);
    if (target === "package") {
      const { packagePlatform } = await import("./packaging/package.ts");
      await packagePlatform(platformOf(flavour));
    }
  }
  if (target === "bench") {
    await buildLlamaServer(flavour);
    await buildWhisperTools(flavour);
    await buildKokoro();
    await buildSmollm2();
  }
}

try {
  await main();
} catch (error) {
  console.error(error instanceof BuildError ? `svc: ${error.message}` : error);
  process.exit(1);
}
