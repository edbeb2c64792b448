// What tests of dictation have in common: a server, and what its voice says.

import { nativeFiles } from "../../ffi/runtime/native-files.ts";
import { isBuilt } from "../native/whisper-harness.ts";
import type { RealtimeClient } from "../support/realtime-client.ts";
import type { ServerProcess } from "../support/server.ts";
import { sharedServer } from "../support/shared-server.ts";

export const isWhole = isBuilt && nativeFiles("").embeddedVoice !== undefined;
if (!isWhole) console.log("dictation is not tested: the voice or Whisper is not built (`bun build.ts media`)");

const FLAGS = ["--ctx", "1024", "--parallel", "2", "--threads", "1"];
const RATE = 24_000;
export const first = "Good morning, the sky is blue.";
export const second = "The quick brown fox jumps over the lazy dog.";

/** 16-bit samples, 24,000 a second. */
export const said = async (server: ServerProcess, input: string): Promise<Uint8Array> =>
  (await server.post("/v1/audio/speech", { input, response_format: "pcm", voice: "nova" })).bytes();

export const silence = (seconds: number) => new Uint8Array(2 * RATE * seconds);
export const english = { transcription: { language: "en" } };

/** As a microphone sends it. */
export function dictate(client: RealtimeClient, sound: Uint8Array): void {
  const chunk = RATE / 5;
  for (let at = 0; at < sound.length; at += chunk) client.append(sound.subarray(at, at + chunk));
}

export const dictationServer = (): ServerProcess => sharedServer(...FLAGS);
