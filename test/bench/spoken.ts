// Speech for benchmarks: svc's rendering of a text, clean or with noise, as samples and as files.

import { SAMPLE_RATE } from "../../src/audio/decode/sound-tools.ts";
import { completeWav, wavHead } from "../../src/audio/encode/wav.ts";
import type { Dice } from "../support/dice.ts";
import type { TestServer } from "../support/server.ts";

/** Sample rate of all speech here. */
export const RATE = 24_000;

/** Noise levels relative to a full scale of 1. */
export const NOISE = { clean: 0, "some noise": 0.003, "much noise": 0.02 } as const;

/** Returns the speech of a voice, by default svc's default voice. Throws with the server's answer. */
export async function say({ url }: TestServer, input: string, voice?: string): Promise<Int16Array<ArrayBuffer>> {
  const body = JSON.stringify({ input, response_format: "pcm", ...(voice !== undefined && { voice }) });
  const headers = { "content-type": "application/json" };
  const response = await fetch(`${url}/v1/audio/speech`, { method: "POST", headers, body });
  if (!response.ok) throw new Error(await response.text());
  return new Int16Array(await response.arrayBuffer());
}

/** Adds white noise of this level. */
export const noisy = (samples: Int16Array, level: number, roll: Dice): Int16Array<ArrayBuffer> =>
  Int16Array.from(samples, (sample) =>
    Math.max(-32_768, Math.min(32_767, sample + (roll(2001) / 1000 - 1) * level * 32_767 * 1.7)),
  );

/** Returns a WAV file of these samples. */
export function wav(samples: Int16Array): Uint8Array<ArrayBuffer> {
  const file = Buffer.concat([wavHead(RATE), new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength)]);
  completeWav(file, samples.length);
  return new Uint8Array(file);
}

/** Returns a WAV file of exactly the samples that a model gets. */
export function floatWav(samples: Float32Array): Uint8Array<ArrayBuffer> {
  const head = Buffer.from(wavHead(SAMPLE_RATE));
  const [kind, bytesPerSample] = [3, 4];
  head.writeUInt16LE(kind, 20);
  head.writeUInt32LE(bytesPerSample * SAMPLE_RATE, 28);
  head.writeUInt16LE(bytesPerSample, 32);
  head.writeUInt16LE(8 * bytesPerSample, 34);
  const file = Buffer.concat([head, new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength)]);
  // The function counts samples of two bytes.
  completeWav(file, samples.byteLength / 2);
  return new Uint8Array(file);
}

/** Transcribes a file with svc (`/v1/audio/transcriptions`) or whisper-server (`/inference`), or throws its answer. */
export async function hear(
  url: string,
  path: string,
  file: string,
  fields: Record<string, string> = {},
): Promise<string> {
  const body = new FormData();
  body.append("file", Bun.file(file), "sound.wav");
  for (const [name, value] of Object.entries({ language: "en", response_format: "text", ...fields }))
    body.append(name, value);
  // whisper-server closes idle connections while requests are being sent on them.
  const response = await fetch(`${url}${path}`, { method: "POST", body, keepalive: false });
  if (!response.ok) throw new Error(await response.text());
  return oneLine(await response.text());
}

/** Transcribes a file with svc as a stream. Returns the seconds until the first text and until the end. */
export async function firstText(url: string, file: string): Promise<{ first: number; whole: number }> {
  const body = new FormData();
  body.append("file", Bun.file(file), "sound.wav");
  body.append("language", "en");
  body.append("stream", "true");
  const started = performance.now();
  const seconds = () => (performance.now() - started) / 1000;
  const response = await fetch(`${url}/v1/audio/transcriptions`, { method: "POST", body });
  let [text, first] = ["", NaN];
  const decoder = new TextDecoder();
  for await (const part of response.body ?? []) {
    text += decoder.decode(part, { stream: true });
    if (Number.isNaN(first) && text.includes("transcript.text.delta")) first = seconds();
  }
  if (!text.includes("transcript.text.done")) throw new Error(text.slice(-1000));
  return { first, whole: seconds() };
}

/** Joins lines, whatever separates segments. */
export const oneLine = (text: string): string => text.trim().replace(/\s+/g, " ");
