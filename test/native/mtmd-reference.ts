// Runs llama.cpp's own multimodal program on a file: every embedding, the length of the prompt, and an answer.

import { constants, mkdtempSync, openSync, readSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { VisionModel } from "../models/make-vision-model.ts";

export interface Encoded {
  readonly tokens: number;
  readonly values: Float32Array;
}

export interface Outcome {
  readonly chunks: readonly Encoded[];
  readonly promptTokens: number;
  readonly text: string;
}

/** Greedy, on one core, with a log that includes the length of the prompt. */
const OPTIONS = ["--temp", "0", "-t", "1", "-ngl", "0", "-lv", "4"];
const HEADER_BYTES = 8;

/** Runs the program at `cli` on one image or audio file. Throws with the end of its log when it fails. */
export async function mtmdReference(
  cli: string,
  files: VisionModel,
  medium: string,
  prompt: string,
  options: readonly string[],
): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), "mtmd-reference-"));
  try {
    // The program overwrites a file, named by a variable, with each chunk; a pipe receives all of them.
    const pipe = join(folder, "embeddings");
    await Bun.spawn(["mkfifo", pipe]).exited;
    const args = ["-m", files.model, "--mmproj", files.projector, "--image", medium, "-p", prompt];
    const env = { ...process.env, MTMD_DEBUG_EMBEDDINGS: pipe };
    const child = Bun.spawn([cli, ...args, ...OPTIONS, ...options], { env, stdout: "pipe", stderr: "pipe" });
    const [bytes, stdout, stderr] = await Promise.all([
      readPipe(pipe, child.exited),
      child.stdout.text(),
      child.stderr.text(),
    ]);
    if ((await child.exited) !== 0) throw new Error(`llama-mtmd-cli failed:\n${stderr.slice(-2000)}`);
    const promptTokens = Number(/prompt eval time =.*\/\s*(\d+) tokens/.exec(stderr)?.[1]);
    return { chunks: parse(bytes), promptTokens, text: stdout.trim() };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function readPipe(path: string, exited: Promise<number>): Promise<Buffer> {
  // Opened for writing as well, so that the pipe does not end between two chunks.
  const pipe = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  const parts: Buffer[] = [];
  const drain = () => {
    const block = Buffer.alloc(1 << 16);
    try {
      for (;;) parts.push(Buffer.from(block.subarray(0, readSync(pipe, block))));
    } catch {
      // No more data at the moment.
    }
  };
  let running = true;
  const ended = exited.then(() => (running = false));
  while (running) {
    drain();
    await Promise.race([ended, Bun.sleep(1)]);
  }
  drain();
  return Buffer.concat(parts);
}

/** Parses chunks: number of tokens, width, then floats. */
function parse(bytes: Buffer): Encoded[] {
  const chunks: Encoded[] = [];
  for (let at = 0; at < bytes.length;) {
    const tokens = bytes.readInt32LE(at);
    const end = at + HEADER_BYTES + tokens * bytes.readInt32LE(at + 4) * 4;
    chunks.push({ tokens, values: new Float32Array(new Uint8Array(bytes.subarray(at + HEADER_BYTES, end)).buffer) });
    at = end;
  }
  return chunks;
}
