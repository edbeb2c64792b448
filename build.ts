// Builds svc. `bun build.ts` lists the targets; npm scripts call them.

import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { parseArgs } from "node:util";
import { crc32 } from "node:zlib";
import type { BunPlugin } from "bun";
import type { Embedded } from "./ffi/runtime/embedded.ts";
import { bundlePages } from "./src/http/pages/bundle.ts";
import packageJson from "./package.json" with { type: "json" };
import { buildAllMinilm } from "./vendor/all-minilm.ts";
import { buildAudio } from "./vendor/audio.ts";
import { buildHibari } from "./vendor/hibari.ts";
import { buildLlama, flavours, type Flavour } from "./vendor/llama.ts";
import { buildMedia } from "./vendor/media.ts";
import { BuildError, run, step } from "./vendor/run.ts";
import { buildSileroVad } from "./vendor/silero-vad.ts";
import { buildImage } from "./vendor/stable-diffusion.ts";
import { buildEnglishData } from "./vendor/tessdata-eng.ts";
import { buildWhisperBase } from "./vendor/whisper-base.ts";
import { buildWhisper } from "./vendor/whisper.ts";

const USAGE = `usage: bun build.ts <target> [--flavour ${flavours.join("|")}]
  native   the native libraries, the embedding model, the voice and the data for text recognition, for runs from source
  media    native, the libraries for images and sound, and the models for speech to text (two minutes, once)
  all      dist/svc, the one executable
  bench    native, the programs of llama.cpp and whisper.cpp to compare with, with the same libraries, and Kokoro (some minutes, once)
  docs     docs/reference, from the code; needs no library`;

const out = join(import.meta.dir, "vendor/.build");
const executable = join(import.meta.dir, "dist/svc");

async function buildBinary(libraries: string, models: readonly (string | undefined)[]): Promise<void> {
  const embedded = await pack([
    ...readdirSync(libraries).map((name) => join(libraries, name)),
    join(import.meta.dir, "vendor/svc-mini/svc-mini-q8_0.gguf"),
    ...drawingModel(),
    ...models.filter((path) => path !== undefined),
  ]);
  const pages = await step("bundled the pages", writePages);
  // Under another name first: who runs dist/svc meanwhile finds the old one or the new one, never a part.
  const outfile = `${executable}.part-${process.pid}`;
  await step("compiled dist/svc", async () => {
    const result = await Bun.build({
      entrypoints: [join(import.meta.dir, "src/main.ts")],
      compile: { outfile, autoloadDotenv: false, autoloadBunfig: false },
      // Elysia reads the source of handlers, so their names must survive.
      minify: { whitespace: true, syntax: true, identifiers: false },
      bytecode: true,
      format: "esm",
      sourcemap: "none",
      define: { SVC_VERSION: JSON.stringify(packageJson.version), SVC_COMMIT: JSON.stringify(await commit()) },
      plugins: [embed(embedded), embedPages(pages)],
    });
    if (!result.success) throw new BuildError(result.logs.map(String).join("\n"));
    renameSync(outfile, executable);
  });
  console.log(`dist/svc: ${(statSync(executable).size / 2 ** 20).toFixed(0)} MiB`);
}

/** The files of svc-draw. */
function drawingModel(): string[] {
  const folder = join(import.meta.dir, "vendor/svc-draw");
  const isModel = (name: string) => /\.(safetensors|gguf)$/.test(name);
  return readdirSync(folder)
    .filter(isModel)
    .map((name) => join(folder, name));
}

/** Packs files into one compressed archive, kept by content so that nothing is compressed twice. */
async function pack(paths: readonly string[]): Promise<Embedded> {
  const contents = paths.map((path) => readFileSync(path));
  const files = contents.map((content, index) => {
    return { name: basename(paths[index] ?? ""), size: content.length, crc32: crc32(content) };
  });
  const hash = new Bun.CryptoHasher("sha256").update(JSON.stringify(files));
  for (const content of contents) hash.update(content);
  const id = hash.digest("hex").slice(0, 16);
  const archive = join(out, `embedded-${id}.zst`);
  if (!(await Bun.file(archive).exists())) {
    await step("packed the libraries and models", async () => {
      mkdirSync(out, { recursive: true });
      for (const name of readdirSync(out)) if (name.startsWith("embedded-")) rmSync(join(out, name));
      await Bun.write(`${archive}.part`, await Bun.zstdCompress(Buffer.concat(contents), { level: 12 }));
      renameSync(`${archive}.part`, archive);
    });
  }
  return { archive, id, files };
}

/** Gives ffi/runtime/embedded.ts its content. */
function embed({ archive, id, files }: Embedded): BunPlugin {
  return {
    name: "embed",
    setup(build) {
      build.onLoad({ filter: /ffi\/runtime\/embedded\.ts$/ }, () => ({
        loader: "ts",
        contents: `import archive from ${JSON.stringify(archive)} with { type: "file" };
          export const embedded = { archive, id: ${JSON.stringify(id)}, files: ${JSON.stringify(files)} };`,
      }));
    },
  };
}

/** A file of the pages. */
interface WrittenPage {
  readonly name: string;
  readonly path: string;
  readonly type: string;
}

/** Bundles the web pages into files. */
async function writePages(): Promise<WrittenPage[]> {
  const folder = join(out, "pages");
  rmSync(folder, { recursive: true, force: true });
  const pages = [...(await bundlePages())].map(([name, { type, body }]) => {
    return { name, type, body, path: join(folder, name) };
  });
  for (const { path, body } of pages) await Bun.write(path, body);
  return pages;
}

/** Gives src/http/pages/bundle.ts the finished files. */
function embedPages(pages: readonly WrittenPage[]): BunPlugin {
  const imports = pages.map(
    ({ path }, index) => `import page${index} from ${JSON.stringify(path)} with { type: "file" };`,
  );
  const entries = pages.map(({ name, type }, index) => {
    return `[${JSON.stringify(name)}, { type: ${JSON.stringify(type)}, body: Bun.file(page${index}) }]`;
  });
  return {
    name: "embed-pages",
    setup(build) {
      build.onLoad({ filter: /src\/http\/pages\/bundle\.ts$/ }, () => ({
        loader: "ts",
        contents: `${imports.join("\n")}
          const files = new Map([${entries.join(", ")}]);
          export const bundlePages = async () => files;`,
      }));
    },
  };
}

async function commit(): Promise<string> {
  try {
    return (await run(["git", "-C", import.meta.dir, "rev-parse", "--short", "HEAD"])).trim();
  } catch {
    return "unknown";
  }
}

/** The target and flavour that the arguments name, or undefined when they make no sense. */
function readArguments(): { target: string; flavour: Flavour } | undefined {
  try {
    const { positionals, values } = parseArgs({ allowPositionals: true, options: { flavour: { type: "string" } } });
    const usual = process.platform === "darwin" && process.arch === "arm64" ? "metal" : "cpu";
    const flavour = flavours.find((name) => name === (values.flavour ?? usual));
    const [target = "", ...rest] = positionals;
    const isKnown = ["native", "media", "all", "bench", "docs"].includes(target) && rest.length === 0;
    return isKnown && flavour ? { target, flavour } : undefined;
  } catch {
    return undefined;
  }
}

async function main(): Promise<void> {
  const given = readArguments();
  if (!given) {
    console.error(USAGE);
    process.exit(2);
  }
  const { target, flavour } = given;
  if (target === "docs") {
    const { writePages } = await import("./docs/generate/pages.ts");
    await step("wrote docs/reference", writePages);
    return;
  }
  const [{ libraries, sources }, embeddingModel, voice, english] = await Promise.all([
    buildLlama(flavour),
    buildAllMinilm(),
    buildHibari(),
    buildEnglishData(),
  ]);
  const models = [embeddingModel, ...voice, english];
  // Text must not wait for these: they take longer than all the rest. Who had them once keeps them.
  const isWanted = (folder: string) => target === "media" || target === "all" || existsSync(join(out, folder));
  const media = () =>
    Promise.all([
      buildWhisperBase(),
      buildSileroVad(),
      buildMedia(flavour),
      buildAudio(flavour),
      buildWhisper(flavour),
    ]);
  // What takes longest begins first.
  const [, made = []] = await Promise.all([
    isWanted("image") ? buildImage(flavour) : undefined,
    isWanted("media") ? media() : undefined,
  ]);
  models.push(...made.slice(0, 2));
  if (target === "all") await buildBinary(libraries, models);
  if (target === "bench") {
    const { buildLlamaServer } = await import("./vendor/llama-server.ts");
    await buildLlamaServer({ sources, libraries, out });
    const { buildWhisperTools } = await import("./vendor/whisper-tools.ts");
    await buildWhisperTools(flavour);
    const { buildKokoro } = await import("./vendor/kokoro.ts");
    await buildKokoro();
  }
}

try {
  await main();
} catch (error) {
  console.error(error instanceof BuildError ? `svc: ${error.message}` : error);
  process.exit(1);
}
