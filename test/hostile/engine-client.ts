// The requests of attacks on the engines for sound, images and pages.

import { join } from "node:path";
import { drawn, scanned } from "../support/pages.ts";
import type { EngineKind } from "./engines.ts";
import type { Bytes } from "./hostile-pictures.ts";

/** Sends one request, which the client may abort. */
export type Send = (url: string, signal?: AbortSignal, headers?: Readonly<Record<string, string>>) => Promise<Response>;

/** Returns the fixture, eleven seconds of a president's speech: 16 kHz, one channel, 16 bits. */
export const recording = (): Promise<Bytes> => Bun.file(join(import.meta.dir, "../fixtures/sounds/jfk.wav")).bytes();

/** Returns a WAV file of 16 kHz, one channel and 16 bits, truncated or repeated to this many seconds. */
export function lasting(wav: Uint8Array, seconds: number): Bytes {
  const head = Buffer.from(wav.subarray(0, 44));
  const data = Buffer.alloc(seconds * 32_000, wav.subarray(44));
  head.writeUInt32LE(36 + data.length, 4);
  head.writeUInt32LE(data.length, 40);
  return Buffer.concat([head, data]);
}

/** Posts JSON to a route. */
export const post =
  (path: string, body: object | string): Send =>
  (url, signal, headers = {}) =>
    fetch(url + path, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: typeof body === "string" ? body : JSON.stringify(body),
      ...(signal && { signal }),
    });

/** Posts a form; byte values are files. `filename`: their name; default: that of the part. */
export const form =
  (path: string, parts: Readonly<Record<string, string | Uint8Array<ArrayBuffer>>>, filename?: string): Send =>
  (url, signal, headers = {}) => {
    const body = new FormData();
    for (const [name, value] of Object.entries(parts)) {
      if (typeof value === "string") body.append(name, value);
      else body.append(name, new Blob([value]), filename ?? name);
    }
    return fetch(url + path, { method: "POST", body, headers, ...(signal && { signal }) });
  };

/** Transcribes a recording. */
export const transcribe = (file: Bytes): Send => form("/v1/audio/transcriptions", { file });

/** Speaks a text. */
export const say = (body: {
  readonly input: string;
  readonly response_format?: string;
  readonly stream_format?: string;
}): Send => post("/v1/audio/speech", body);

/** Draws a small image. */
export const draw = (fields: Readonly<Record<string, unknown>> = {}): Send =>
  post("/v1/images/generations", { prompt: "a red circle", size: "128x128", ...fields });

/** Edits an image with few steps. */
export const edit = (parts: Readonly<Record<string, string | Bytes>>): Send =>
  form("/v1/images/edits", { prompt: "a red circle", steps: "1", ...parts });

/** Reads a document. */
export const read = (file: Bytes, fields: Readonly<Record<string, string>> = {}): Send =>
  form("/v1/vision/ocr", { file, ...fields });

export const INPUT = "The quick brown fox jumps over the lazy dog. It does so every day, and nobody knows why.";

/** Returns a small request to each engine. */
export async function oneOfEach(): Promise<Readonly<Record<EngineKind, Send>>> {
  const page = await drawn({ lines: ["A page", INPUT] }, 100);
  return {
    transcription: transcribe(lasting(await recording(), 3)),
    speech: say({ input: INPUT }),
    image: draw(),
    recognition: read(scanned(page, 3)),
  };
}
