// Damaged files of every kind that svc loads: it must report what is wrong with which file, or serve, and must never
// hang or leave processes behind.
// Files that come with the program are damaged in a copy of it.

import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileName } from "../../ffi/runtime/native-files.ts";
import { readGguf } from "../../src/model/gguf.ts";
import { makeAdapter } from "../models/make-adapter.ts";
import { makeEncoder } from "../models/make-encoder.ts";
import { makeVisionModel } from "../models/make-vision-model.ts";
import { picture, pngFile } from "../models/media-files.ts";
import { dice, pick, type Dice } from "../support/dice.ts";
import { drawn as pageOf, pngOf } from "../support/pages.ts";
import { freePort } from "../support/free-port.ts";
import { killAtExit } from "../support/kill-at-exit.ts";
import { PROGRAM, type Health } from "../support/server.ts";
import type { Options, Row } from "./row.ts";
import { programWith } from "./program-with.ts";

const ROOT = join(import.meta.dir, "../..");
const MODEL = join(ROOT, "vendor/svc-mini/svc-mini-q8_0.gguf");
const BUILD = join(ROOT, "vendor/.build");
const DRAW = join(ROOT, "vendor/svc-draw/svc-draw");
const ENGLISH = join(BUILD, "recognition/current/eng.traineddata");
const WHISPER = "transcription/current/whisper-base.bin";
/** Ten times longer than anything here takes. */
const PATIENCE_MS = 60_000;

/** A kind of file: a valid one, how a server loads it, and the request that uses it. */
export interface FileKind {
  readonly file: (folder: string) => string;
  readonly flags: (damaged: string, folder: string) => readonly string[];
  readonly path: string;
  readonly body: (damaged: string) => object;
  /** Returns a damaged copy of a file that is not GGUF. */
  readonly damage?: (path: string, roll: Dice) => Uint8Array;
  /** Place in the build folder, for a file that comes with the program. */
  readonly place?: string;
  /** The name in the log, when it differs from the file's own name. */
  readonly called?: string;
  /** Returns whether a valid file exists; absent when it is created or always exists. */
  readonly isBuilt?: () => boolean;
}

const messages = [{ role: "user", content: "Hello" }];
const chat = { path: "/v1/chat/completions", body: () => ({ messages, max_tokens: 4 }) };
const image = `data:image/png;base64,${Buffer.from(pngFile(picture(48, 32))).toString("base64")}`;
const seen = [{ type: "image_url", image_url: { url: image } }];
const heard = () => ({ data: readFileSync(join(ROOT, "test/fixtures/sounds/jfk.wav")).toString("base64") });
const said = { path: "/v1/audio/speech", body: () => ({ input: "Hello xyzzy, it is 10 o'clock." }) };
const drawn = {
  path: "/v1/images/generations",
  body: () => ({ prompt: "a red circle", size: "128x128", steps: 1 }),
};
const page = Buffer.from(await pngOf(await pageOf({ lines: ["From a picture"], paper: [300, 150] }))).toString(
  "base64",
);
const idOf = (path: string) => basename(path, ".gguf");

/** Returns a file that comes with the program, in the build folder; `request` uses the engine that loads it. */
const builtIn = (place: string, request: Pick<FileKind, "path" | "body">): FileKind => ({
  ...request,
  file: () => join(BUILD, place),
  flags: () => ["--model", MODEL],
  damage: corruptedBytes,
  place,
  isBuilt: () => existsSync(join(BUILD, place)),
});

/** Returns a part of svc-draw, as an operator sets it; `--image-model` is the first. */
const partOfDraw = (option: string, damage?: FileKind["damage"]): FileKind => {
  const files = {
    "--image-model": `${DRAW}-dit.safetensors`,
    "--image-text-encoder": `${DRAW}-llm.gguf`,
    "--image-taesd": `${DRAW}-tae.safetensors`,
  };
  return {
    ...drawn,
    file: () => files[option as keyof typeof files],
    flags: (damaged) => ["--model", MODEL, ...Object.entries({ ...files, [option]: damaged }).flat()],
    ...(damage && { damage }),
    isBuilt: () => existsSync(join(BUILD, "lib/current", fileName("image"))),
  };
};

export const kinds = {
  model: { ...chat, file: () => MODEL, flags: (damaged) => ["--model", damaged] },
  draft: { ...chat, file: () => MODEL, flags: (damaged) => ["--model", MODEL, "--draft", damaged] },
  adapter: {
    path: chat.path,
    body: (damaged) => ({ ...chat.body(), model: idOf(damaged) }),
    file: (folder) => makeAdapter(folder, 1),
    flags: (damaged) => ["--model", MODEL, "--lora", damaged],
  },
  embeddings: {
    path: "/v1/embeddings",
    body: (damaged) => ({ model: idOf(damaged), input: "hello" }),
    file: (folder) => makeEncoder("mean", folder),
    flags: (damaged) => ["--model", MODEL, "--embedding-model", damaged],
  },
  projector: {
    path: chat.path,
    body: () => ({ messages: [{ role: "user", content: seen }], max_tokens: 4 }),
    file: (folder) => makeVisionModel("tiles", folder).projector,
    flags: (damaged, folder) => ["--model", makeVisionModel("tiles", folder).model, "--mmproj", damaged],
  },
  transcription: {
    path: "/v1/audio/transcriptions",
    body: heard,
    file: () => join(BUILD, WHISPER),
    flags: (damaged) => ["--model", MODEL, "--transcription-model", damaged],
    damage: corruptedWhisper,
    isBuilt: () => existsSync(join(BUILD, WHISPER)),
  },
  "image model": partOfDraw("--image-model", corruptedBytes),
  "image text encoder": partOfDraw("--image-text-encoder"),
  "tiny decoder": partOfDraw("--image-taesd", corruptedBytes),
  "language data": {
    path: "/v1/vision/ocr",
    body: () => ({ data: page }),
    file: () => ENGLISH,
    flags(damaged, folder) {
      const data = join(folder, "tessdata");
      mkdirSync(data, { recursive: true });
      copyFileSync(damaged, join(data, "eng.traineddata"));
      return ["--model", MODEL, "--ocr-data", data];
    },
    damage: corruptedBytes,
    called: "eng.traineddata",
    isBuilt: () => existsSync(ENGLISH),
  },
  vad: builtIn("vad/current/silero-vad.bin", { path: "/v1/audio/transcriptions", body: heard }),
  voice: builtIn("speech/current/voice.onnx", said),
  "known words": builtIn("speech/current/gold.txt", said),
  "unknown words": builtIn("speech/current/unknown-words.onnx", said),
  "tables of speech": builtIn("speech/current/tables.json", said),
} as const satisfies Readonly<Record<string, FileKind>>;

const HUGE = [2n ** 63n - 1n, 2n ** 64n - 1n, 2n ** 31n, 2n ** 32n, 1n << 20n, 0n] as const;
/** Bytes of a tensor's entry in the header, without its name. */
const TENSOR_BYTES = 40;

/** Returns a copy of a GGUF file that is truncated or has a changed header. */
export function corrupted(path: string, roll: Dice): Uint8Array {
  const bytes = Buffer.from(readFileSync(path));
  const { headerBytes, tensors } = readGguf(path);
  const how = roll(8);
  if (how === 0) return bytes.subarray(0, roll(roll(2) === 0 ? headerBytes : bytes.length));
  if (how === 1) {
    // The counts of tensors and entries follow the magic and the version; strings are preceded by their lengths.
    const at = pick(roll, [8, 16, 24, roll(headerBytes - 8), roll(headerBytes - 8)]);
    bytes.writeBigUInt64LE(pick(roll, HUGE), at);
  } else if (how < 5) {
    // A value follows its name and type: the file stays well-formed, but its content is impossible.
    const keys = [...bytes.toString("latin1", 0, headerBytes).matchAll(/[a-z0-9_-]+(\.[a-z0-9_-]+)+/g)];
    const { index = 0, 0: key = "" } = keys[roll(keys.length)] ?? {};
    const at = Math.min(index + key.length + 4, bytes.length - 4);
    bytes.writeUInt32LE(roll(2) === 0 ? roll(64) : Number(pick(roll, HUGE) & 0xffffffffn), at);
  } else {
    const from = how < 7 ? 0 : Math.max(0, headerBytes - tensors * TENSOR_BYTES);
    for (let flips = pick(roll, [1, 1, 1, 2, 16]); flips > 0; flips--) {
      const at = from + roll(headerBytes - from);
      bytes[at] = (bytes[at] ?? 0) ^ (1 << roll(8));
    }
  }
  return bytes;
}

/** The magic, eleven sizes, and two sizes of the filters. */
const WHISPER_HEADER = 56;

/** Returns a damaged copy of a file in whisper.cpp's format. */
function corruptedWhisper(path: string, roll: Dice): Uint8Array {
  const bytes = readFileSync(path);
  const how = roll(4);
  if (how === 0) return bytes.subarray(0, 4 + roll(roll(2) === 0 ? 1 << 20 : bytes.length));
  if (how === 1) {
    const value = roll(2) === 0 ? roll(4096) : Number(pick(roll, HUGE) & 0xffffffffn);
    bytes.writeUInt32LE(value, 4 + 4 * roll(WHISPER_HEADER / 4 - 1));
  } else {
    const among = how === 2 ? 1 << 20 : bytes.length - 4;
    for (let flips = pick(roll, [1, 2, 16, 256]); flips > 0; flips--) {
      const at = 4 + roll(among);
      bytes[at] = (bytes[at] ?? 0) ^ (1 << roll(8));
    }
  }
  return bytes;
}

/** Returns a damaged copy of any other file. */
function corruptedBytes(path: string, roll: Dice): Uint8Array {
  const bytes = readFileSync(path);
  const how = roll(3);
  if (how === 0) return bytes.subarray(0, roll(roll(2) === 0 ? Math.min(4096, bytes.length) : bytes.length));
  const among = roll(2) === 0 ? Math.min(4096, bytes.length) : bytes.length;
  if (how === 1) {
    const from = roll(among);
    return bytes.fill(pick(roll, [0, 0x7f, 0xff]), from, from + roll(512));
  }
  for (let flips = pick(roll, [1, 2, 16, 256]); flips > 0; flips--) {
    const at = roll(among);
    bytes[at] = (bytes[at] ?? 0) ^ (1 << roll(8));
  }
  return bytes;
}

/** The result of loading a file; `fault`: a forbidden one. */
export type Outcome = { readonly end: "refused" | "served" } | { readonly end: "fault"; readonly fault: string };
const fault = (text: string): Outcome => ({ end: "fault", fault: text });

/** Starts a server with the file, uses it, and stops the server. */
export async function load(kind: FileKind, damaged: string, folder: string): Promise<Outcome> {
  const port = await freePort();
  const flags = [...kind.flags(damaged, folder), "--port", String(port), "--threads", "1", "--ctx", "1024"];
  const { place } = kind;
  const command = place === undefined ? PROGRAM : programWith(join(folder, "program"), place, damaged);
  const child = Bun.spawn([...command, ...flags], {
    env: { ...process.env, SVC_DATA_DIR: join(folder, "data") },
    stdin: "ignore",
    stdout: "ignore",
    stderr: "pipe",
  });
  const ended = killAtExit(child);
  const name = kind.called ?? basename(place ?? damaged);
  const output = child.stderr.text();
  const deadline = AbortSignal.timeout(PATIENCE_MS);
  try {
    return (await refusedAtStart()) ?? (await used());
  } catch (error) {
    return fault(deadline.aborted ? `no end within ${PATIENCE_MS / 1000} s` : String(error));
  } finally {
    child.kill("SIGKILL");
    await child.exited;
    ended();
  }

  /** Resolves with undefined when the file was loaded, or will be with the first request. */
  async function refusedAtStart(): Promise<Outcome | undefined> {
    for (;;) {
      deadline.throwIfAborted();
      if (child.signalCode !== null) return fault(`the server died of ${child.signalCode}`);
      if (child.exitCode !== null) {
        const said = (await output).trim().split("\n").at(-1) ?? "";
        return child.exitCode > 0 && said.includes(name)
          ? { end: "refused" }
          : fault(`exit ${child.exitCode}: ${said}`);
      }
      const health = await healthNow();
      if (health && ["ready", "none"].includes(health.engine.state)) return undefined;
      if (health && health.engine.state === "failed") return blamed(health);
      await Bun.sleep(20);
    }
  }

  async function healthNow(): Promise<Health | undefined> {
    const response = await fetch(`http://127.0.0.1:${port}/health`, { signal: deadline }).catch(() => undefined);
    return response && ((await response.json()) as Health);
  }

  function blamed({ engine }: Health): Outcome {
    const said = engine.last_error ?? "";
    return said.includes(name) ? { end: "refused" } : fault(`no blame: ${said}`);
  }

  async function used(): Promise<Outcome> {
    const response = await fetch(`http://127.0.0.1:${port}${kind.path}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(kind.body(damaged)),
      signal: deadline,
    });
    const text = await response.text();
    if (response.ok) return { end: "served" };
    const { error } = JSON.parse(text) as { readonly error?: { readonly code?: string; readonly message?: string } };
    // Without its header entries, a projector has no function; and damaged weights may recognize nothing.
    if (error?.code === "unsupported_media_input" || error?.code === "no_speech") return { end: "served" };
    const said = `${response.status} ${error?.code}: ${error?.message}`;
    // A file that is loaded with the first request is also reported to the operator, in the log.
    child.kill();
    const log = (await output).split("\n").filter((line) => / error /.test(line));
    return response.status === 503 &&
      log.some((line) => line.includes(place === undefined && !kind.called ? idOf(damaged) : name))
      ? { end: "refused" }
      : fault([said, ...log].join(" | "));
  }
}

/** Returns one row for each kind of file. */
export async function corruptFiles({ count = 100, seed = 1, attack = "" }: Options): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), "svc-corrupt-"));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  const rows: Row[] = [];
  for (const [name, kind] of Object.entries<FileKind>(kinds)) {
    if (!name.includes(attack)) continue;
    const whole = kind.file(folder);
    const outcome = await load(kind, whole, folder);
    if (outcome.end !== "served") throw new Error(`a whole file is not served: ${JSON.stringify(outcome)}`);
    const ends = { refused: 0, served: 0, fault: 0 };
    for (let index = 0; index < count; index++) {
      const damaged = join(folder, `damaged-${name}-${seed}-${index}.gguf`);
      writeFileSync(damaged, (kind.damage ?? corrupted)(whole, dice((seed * 1_000_003 + index) | 0)));
      const outcome = await load(kind, damaged, folder);
      ends[outcome.end]++;
      if (outcome.end === "fault") {
        console.error(`FAIL  ${basename(damaged)}: ${outcome.fault}`);
        keep(damaged);
      }
      rmSync(damaged);
    }
    rows.push({
      promise: "A damaged file is named, and nothing hangs",
      attack: `${count} damaged files: ${name}`,
      figure: `${ends.refused} refused, ${ends.served} served, ${ends.fault} neither`,
      limit: "0 neither",
      ok: ends.fault === 0,
    });
  }
  return rows;
}

/** Keeps a damaged file for inspection. */
function keep(damaged: string): void {
  const folder = join(tmpdir(), "svc-corrupt-kept");
  mkdirSync(folder, { recursive: true });
  copyFileSync(damaged, join(folder, basename(damaged)));
}
