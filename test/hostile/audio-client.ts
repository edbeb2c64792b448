// What attacks on sound send, and where they look what came of it.

import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { childrenOf } from "../support/processes.ts";
import type { TestServer } from "../support/server.ts";

/** Of a server that is attacked with sound; the text model is not. */
export const AUDIO_FLAGS = ["--ctx", "1024", "--parallel", "1", "--threads", "2"];

export type AudioKind = "transcription" | "speech";

/** Eleven seconds of a president: 16 kHz, one channel, 16 bits. */
export const recording = (): Promise<Uint8Array<ArrayBuffer>> =>
  Bun.file(join(import.meta.dir, "../fixtures/sounds/jfk.wav")).bytes();

/** A WAV file of 16 kHz, one channel and 16 bits, cut or repeated to so many seconds. */
export function lasting(wav: Uint8Array, seconds: number): Uint8Array<ArrayBuffer> {
  const head = Buffer.from(wav.subarray(0, 44));
  const data = Buffer.alloc(seconds * 32_000, wav.subarray(44));
  head.writeUInt32LE(36 + data.length, 4);
  head.writeUInt32LE(data.length, 40);
  return Buffer.concat([head, data]);
}

/** Sends a recording in a form. */
export function recognise(
  url: string,
  file: Uint8Array<ArrayBuffer>,
  { signal, headers = {} }: { readonly signal?: AbortSignal; readonly headers?: Record<string, string> } = {},
): Promise<Response> {
  const body = new FormData();
  body.append("file", new Blob([file]), "sound");
  return fetch(`${url}/v1/audio/transcriptions`, { method: "POST", body, headers, ...(signal && { signal }) });
}

/** Has a text said. */
export function say(
  url: string,
  body: { readonly input: string; readonly response_format?: string; readonly stream_format?: string },
  { signal, headers = {} }: { readonly signal?: AbortSignal; readonly headers?: Record<string, string> } = {},
): Promise<Response> {
  return fetch(`${url}/v1/audio/speech`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
    ...(signal && { signal }),
  });
}

/** The process of an engine that is loaded. */
export function engineOf(server: TestServer, kind: AudioKind): number | undefined {
  return childrenOf(server.pid).find((pid) => {
    const command = Bun.spawnSync(["ps", "-o", "args=", "-p", String(pid)]).stdout.toString();
    return command.trim().endsWith(`__engine ${kind}`);
  });
}

export interface EngineHealth {
  readonly kind: string;
  readonly state: string;
  readonly restarts: number;
  readonly running: number;
  readonly waiting: number;
}

export async function engineHealth({ url }: TestServer, kind: AudioKind): Promise<EngineHealth> {
  const { engines } = (await (await fetch(`${url}/health`)).json()) as { readonly engines: readonly EngineHealth[] };
  const found = engines.find((engine) => engine.kind === kind);
  if (!found) throw new Error(`no engine for ${kind}`);
  return found;
}

/** Files with recordings below a temporary folder. */
export const recordingsLeft = (folder: string): number =>
  readdirSync(folder)
    .filter((name) => name.startsWith("svc-recordings-"))
    .reduce((sum, name) => sum + readdirSync(join(folder, name)).length, 0);

/** Runs `work` with a temporary folder of its own for whatever is started. */
export async function withTemporaryFolder<Result>(work: (folder: string) => Promise<Result>): Promise<Result> {
  const before = process.env["TMPDIR"];
  const folder = mkdtempSync(join(tmpdir(), "svc-audio-"));
  process.env["TMPDIR"] = folder;
  try {
    return await work(folder);
  } finally {
    if (before === undefined) delete process.env["TMPDIR"];
    else process.env["TMPDIR"] = before;
    rmSync(folder, { recursive: true, force: true });
  }
}
