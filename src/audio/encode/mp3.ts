// MP3 by LAME as WebAssembly.

import { createEncoder } from "wasm-media-encoders/esnext";
import wasm from "wasm-media-encoders/wasm/mp3" with { type: "file" };
import type { Encoder } from "./encoder.ts";

/** Kilobits a second; at 24 kHz that is as good as speech gets. */
const BITRATE = 64;

/** An encoder for one of the rates that MP3 has, from 8 to 48 kHz. */
export async function makeMp3Encoder(sampleRate: number): Promise<Encoder> {
  const lame = await createEncoder("audio/mpeg", await Bun.file(wasm).bytes());
  lame.configure({ channels: 1, sampleRate, bitrate: BITRATE });
  // What it returns lies in a buffer that it uses again.
  return { push: (samples) => lame.encode([samples]).slice(), finish: () => lame.finalize().slice() };
}
