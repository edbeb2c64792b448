// Encodes MP3 with LAME as WebAssembly.

import { createEncoder } from "wasm-media-encoders/esnext";
import wasm from "wasm-media-encoders/wasm/mp3" with { type: "file" };
import { SPEECH_RATE } from "../../domain/speech.ts";
import type { Encoder } from "./encoder.ts";

/** Kilobits per second; at 24 kHz, more does not improve speech. */
const BITRATE = 64;

export async function makeMp3Encoder(): Promise<Encoder> {
  const lame = await createEncoder("audio/mpeg", await Bun.file(wasm).bytes());
  lame.configure({ channels: 1, sampleRate: SPEECH_RATE, bitrate: BITRATE });
  // LAME returns a view of a buffer that it reuses, so the bytes are copied.
  return { push: (samples) => lame.encode([samples]).slice(), finish: () => lame.finalize().slice() };
}
