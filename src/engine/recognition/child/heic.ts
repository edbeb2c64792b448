// Reads HEIC pictures, as phones take them, with libheif.

import createHeif from "libheif-js/libheif-wasm/libheif.js";
import wasm from "libheif-js/libheif-wasm/libheif.wasm" with { type: "file" };
import { onWhite, type Pixels } from "../../../media/pixels.ts";
import type { OpenDocument } from "./document.ts";
import { checkSides, unreadable } from "./limits.ts";
import { singlePage } from "./picture.ts";
import { limitedModule } from "./wasm-memory.ts";

type Heif = ReturnType<typeof createHeif>;
type Handle = Parameters<Heif["heif_image_handle_get_width"]>[0];

/** What libheif's functions return that can fail: the object, or the error. */
type Result<Thing> = (Thing & { readonly code?: undefined }) | { readonly code: object } | null | undefined;

/** A decoded picture: rows of RGBA, `stride` bytes apart, which may include padding. */
interface Plane {
  readonly id: object;
  readonly width: number;
  readonly height: number;
  readonly stride: number;
  readonly data: Uint8Array;
}

const silent = () => {};

/** Opens a picture as a document of one page. */
export const openHeic = (bytes: Uint8Array): OpenDocument => singlePage(() => decode(bytes));

async function decode(bytes: Uint8Array): Promise<Pixels> {
  try {
    const heif = createHeif({ wasmBinary: await limitedModule(wasm), print: silent, printErr: silent });
    const handle = mainPicture(heif, bytes);
    if (!handle) throw unreadable("a damaged HEIC file");
    checkSides(heif.heif_image_handle_get_width(handle), heif.heif_image_handle_get_height(handle));
    const plane = await rgba(heif, handle);
    if (!plane) throw unreadable("a damaged or unsupported HEIC file");
    checkSides(plane.width, plane.height);
    return pixelsOf(plane);
  } catch (error) {
    throw error instanceof WebAssembly.RuntimeError ? unreadable("a damaged HEIC file") : error;
  }
}

/**
 * Returns the primary picture, or else the first. The package's own decoder does the same but prints errors. Nothing is
 * freed, because the module is dropped after its one picture.
 */
function mainPicture(heif: Heif, bytes: Uint8Array): Handle | undefined {
  const context = heif.heif_context_alloc();
  if (heif.heif_context_read_from_memory(context, bytes).code !== heif.heif_error_code.heif_error_Ok) return undefined;
  const ids = heif.heif_js_context_get_list_of_top_level_image_IDs(context) as Result<readonly number[]>;
  if (!ids || ids.code) return undefined;
  const handles = ids.flatMap((id) => {
    const handle = heif.heif_js_context_get_image_handle(context, id) as Result<Handle>;
    return !handle || handle.code ? [] : [handle];
  });
  return handles.find((handle) => heif.heif_image_handle_is_primary_image(handle)) ?? handles[0];
}

/** Decodes a picture, upright; returns undefined when that fails. */
async function rgba(heif: Heif, handle: Handle): Promise<Plane | undefined> {
  const { heif_colorspace, heif_chroma, heif_channel } = heif;
  const decoded = (await heif.heif_js_decode_image2(
    handle,
    heif_colorspace.heif_colorspace_RGB,
    heif_chroma.heif_chroma_interleaved_RGBA,
  )) as Result<{ readonly channels: readonly Plane[] }>;
  if (!decoded || decoded.code) return undefined;
  return decoded.channels.find(({ id }) => id === heif_channel.heif_channel_interleaved);
}

function pixelsOf({ width, height, stride, data }: Plane): Pixels {
  const rgb = new Uint8Array(width * height * 3);
  for (let y = 0; y < height; y++) onWhite(data, y * stride, rgb, y * width * 3, width);
  return { width, height, rgb };
}
