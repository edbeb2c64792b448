// Compares the media library with llama.cpp's own program on the same files: embeddings float by float, the length of
// the prompt, and the text of the model.
//   bun test/native/compare-mtmd.ts [audio file…]
// Not part of `npm test`: the first run compiles that program, which takes half a minute.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { buildMedia } from "../../vendor/media.ts";
import { buildMtmdCli } from "../../vendor/mtmd-cli.ts";
import type { NativeLlama } from "../../ffi/llama/binding.ts";
import { PROJECTOR_DEFAULTS, type MediaJob, type Medium } from "../../ffi/media/api.ts";
import { openMedia, type NativeMedia } from "../../ffi/media/binding.ts";
import { developmentLibraries } from "../../ffi/runtime/native-files.ts";
import { makeVisionModel, type VisionKind } from "../models/make-vision-model.ts";
import { picture, pngFile, wavFile } from "../models/media-files.ts";
import { copyEmbeddings, decode, library, load, prefill, sampler, clear } from "./harness.ts";
import { mtmdReference, type Encoded, type Outcome } from "./mtmd-reference.ts";

interface Sample {
  readonly path: string;
  readonly medium: Medium;
}

const PROMPT = "What is this?";
const ANSWER_TOKENS = 12;
const CONTEXT = 4096;
const BATCH = 2048;

function ours(llama: NativeLlama, media: NativeMedia, medium: Medium): Outcome {
  const { marker } = media.projector();
  const text = `<|im_start|>user\n${marker}${PROMPT}<|im_end|>\n<|im_start|>assistant\n`;
  const job = media.submit(text, [medium]);
  media.wait(600_000);
  if (media.encode(job)) media.wait(600_000);
  if (media.state(job) !== "encoded") throw new Error(JSON.stringify(media.state(job)));
  const chunks = media
    .chunks(job)
    .flatMap((chunk, index): Encoded[] =>
      chunk.kind === "text" ? [] : [{ tokens: chunk.tokens, values: copyEmbeddings(media, job, index) }],
    );
  const outcome = { chunks, ...answer(llama, media, job) };
  media.release(job);
  return outcome;
}

/** Reads the prompt of an encoded job and generates an answer to it. */
function answer(llama: NativeLlama, media: NativeMedia, job: MediaJob): Pick<Outcome, "promptTokens" | "text"> {
  clear(llama);
  const slot = sampler(llama);
  const chunks = media.chunks(job);
  let [position, promptTokens, next] = [0, 0, 0];
  for (const [index, chunk] of chunks.entries()) {
    if (chunk.kind === "text") {
      const isLast = index === chunks.length - 1;
      const sampled = decode(llama, prefill(chunk.tokens, 0, isLast ? slot : undefined, position));
      if (typeof sampled === "string") throw new Error(sampled);
      next = sampled[0] ?? next;
      position += chunk.tokens.length;
      promptTokens += chunk.tokens.length;
    } else {
      readMedium(llama, media, job, index, position);
      position += chunk.positions;
      promptTokens += chunk.tokens;
    }
  }
  const tokens: number[] = [];
  while (tokens.length < ANSWER_TOKENS && !llama.isEnd(next)) {
    tokens.push(next);
    const sampled = decode(llama, [{ token: next, position: position++, sequence: 0, sampler: slot }]);
    if (typeof sampled === "string") throw new Error(sampled);
    next = sampled[0] ?? 0;
  }
  llama.freeSampler(slot);
  // The reference program prints special tokens, too.
  const text = Buffer.concat(tokens.map((token) => llama.piece(token, true))).toString("utf8");
  return { promptTokens, text: text.trim() };
}

function readMedium(llama: NativeLlama, media: NativeMedia, job: MediaJob, index: number, position: number): void {
  const chunk = media.chunks(job)[index];
  if (!chunk || chunk.kind === "text") throw new Error("not a medium");
  for (let offset = 0; offset < chunk.tokens; offset += BATCH) {
    const count = Math.min(BATCH, chunk.tokens - offset);
    const address = media.embeddings(job, index, offset);
    const positions = media.positions(job, index, position, offset, count);
    const part = { address, positions, count, sequence: 0, nonCausal: chunk.nonCausal };
    const result = llama.decodeEmbeddings(part, 0);
    if (result !== "done") throw new Error(result);
  }
}

/** Returns the largest difference of two lists of chunks; NaN when their lengths differ. */
function difference(left: readonly Encoded[], right: readonly Encoded[]): number {
  const lengths = (chunks: readonly Encoded[]) =>
    chunks.map(({ tokens, values }) => `${tokens}:${values.length}`).join();
  if (lengths(left) !== lengths(right)) return Number.NaN;
  const other = right.flatMap(({ values }) => [...values]);
  const differences = left.flatMap(({ values }) => [...values]).map((value, at) => Math.abs(value - (other[at] ?? 0)));
  return differences.reduce((most, each) => Math.max(most, each), 0);
}

function writeSamples(folder: string, audioFiles: readonly string[]): Sample[] {
  const images = [picture(48, 32), picture(640, 481), picture(17, 300)].map((image): Sample => {
    const path = join(folder, `${image.width}x${image.height}.png`);
    writeFileSync(path, pngFile(image));
    return { path, medium: { kind: "image", id: path, ...image } };
  });
  const audio = (path: string, bytes: Uint8Array): Sample => ({ path, medium: { kind: "audio", id: path, bytes } });
  const sounds = [wavFile(2, 16_000), wavFile(35, 44_100)].map((file, index) => {
    const path = join(folder, `${index}.wav`);
    writeFileSync(path, file);
    return audio(path, file);
  });
  return [...images, ...sounds, ...audioFiles.map((path) => audio(path, new Uint8Array(readFileSync(path))))];
}

/** Prints a line about a sample; returns false when the two programs differ. */
function report(kind: VisionKind, path: string, theirs: Outcome, mine: Outcome): boolean {
  const largest = difference(theirs.chunks, mine.chunks);
  const floats = mine.chunks.reduce((sum, { values }) => sum + values.length, 0);
  const agree = largest === 0 && theirs.promptTokens === mine.promptTokens && theirs.text === mine.text;
  const label = `${agree ? "same     " : "DIFFERENT"} ${kind.padEnd(5)} ${basename(path).padEnd(11)}`;
  const lengths = `prompt ${mine.promptTokens}/${theirs.promptTokens} tokens`;
  const texts = `${JSON.stringify(mine.text)} / ${JSON.stringify(theirs.text)}`;
  console.log(`${label} ${mine.chunks.length} chunks, ${floats} floats, difference ${largest}, ${lengths}, ${texts}`);
  return agree;
}

const folder = mkdtempSync(join(tmpdir(), "compare-mtmd-"));
try {
  await buildMedia("cpu");
  const cli = await buildMtmdCli("cpu");
  const llama = library();
  const media = openMedia(process.env["SVC_LIBRARIES"] ?? developmentLibraries());
  const samples = writeSamples(folder, process.argv.slice(2));
  const kinds: readonly VisionKind[] = ["tiles", "block", "mrope"];
  for (const kind of kinds) {
    const files = makeVisionModel(kind, folder);
    const failure = await load(llama, { path: files.model, context: CONTEXT, parallel: 1, batch: BATCH });
    if (failure) throw new Error(failure);
    media.loadStart(llama.modelPointer(), { ...PROJECTOR_DEFAULTS, path: files.projector, threads: 1 });
    while (media.loadPoll().state === "loading") await Bun.sleep(2);
    for (const { path, medium } of samples) {
      const options = ["-n", String(ANSWER_TOKENS), "-c", String(CONTEXT), "-b", String(BATCH)];
      const theirs = await mtmdReference(cli, files, path, PROMPT, options);
      if (!report(kind, path, theirs, ours(llama, media, medium))) process.exitCode = 1;
    }
    media.unload();
    llama.unload();
  }
} finally {
  rmSync(folder, { recursive: true });
}
