// HEIC pictures, as phones take them, by libheif.

import createHeif from "libheif-js/libheif-wasm/libheif.js";
import wasm from "libheif-js/libheif-wasm/libheif.wasm" with { type: "file" };
import type { OpenDocument } from "./document.ts";
import { checkSides, unreadable } from "./limits.ts";
import { singlePage, type Decoded } from "./picture.ts";
import { limitMemory } from "./wasm-memory.ts";

export interface HeifPicture {
  get_width(): number;
  get_height(): number;
  is_primary(): boolean;
  /** Decodes to RGBA, upright; null when that fails. */
  display(into: Rgba, done: (filled: Rgba | null) => void): void;
  free(): void;
}

export interface Rgba {
  readonly data: Uint8Array;
  readonly width: number;
  readonly height: number;
}

export interface Heif {
  readonly HeifDecoder: new () => { decode(bytes: Uint8Array): HeifPicture[] };
}

const MEMORY_BYTES = 1 << 30;

/** A document of one page. */
export const openHeic = (bytes: Uint8Array, field: string): OpenDocument => singlePage(() => decode(bytes, field));

async function decode(bytes: Uint8Array, field: string): Promise<Decoded> {
  try {
    const heif = createHeif({ wasmBinary: limitMemory(await Bun.file(wasm).bytes(), MEMORY_BYTES) }) as unknown as Heif;
    const pictures = new heif.HeifDecoder().decode(bytes);
    const picture = pictures.find((one) => one.is_primary()) ?? pictures[0];
    if (!picture) throw unreadable(field, "a damaged HEIC file");
    const [width, height] = [picture.get_width(), picture.get_height()];
    checkSides(width, height, field);
    const into = { width, height, data: new Uint8Array(width * height * 4) };
    const filled = await new Promise<Rgba | null>((resolve) => picture.display(into, resolve));
    if (!filled) throw unreadable(field, "a damaged or unsupported HEIC file");
    return { width, height, pixels: filled.data, channels: 4 };
  } catch (error) {
    throw error instanceof WebAssembly.RuntimeError ? unreadable(field, "a damaged HEIC file") : error;
  }
}
