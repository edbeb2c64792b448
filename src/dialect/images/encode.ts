// Encodes drawn images as answers of /v1/images/generations, /v1/images/edits and /v1/images/upscale.

import type { Images, Upscaled } from "../../contract/images.ts";
import { SvcError } from "../../domain/errors.ts";
import type { DrawingEvent, ImageSize } from "../../domain/image.ts";
import type { ImageCall } from "./decode.ts";

export type DrawnImage = Pick<Extract<DrawingEvent, { readonly type: "image" }>, "data" | "size" | "seed">;

/** Collects the drawn images, after `count` was called with each. Throws what the drawing and `count` throw. */
export async function collectImages(
  events: AsyncIterable<DrawingEvent>,
  count: (image: DrawnImage) => void,
): Promise<DrawnImage[]> {
  const images: DrawnImage[] = [];
  for await (const event of events) {
    if (event.type !== "image") continue;
    count(event);
    images.push(event);
  }
  if (images.length > 0) return images;
  throw new SvcError("internal_error", "The drawing ended without an image.");
}

/** Returns a size in the form `512x512`. */
export const encodeSize = ({ width, height }: ImageSize): string => `${width}x${height}`;

interface Answering {
  /** Unix seconds. */
  readonly created: number;
  /** Stores an image and returns its URL. */
  readonly address: (data: Uint8Array) => string;
}

/** An answer whose images become text only when they are written. */
type Lazy<Answer extends { readonly data: readonly unknown[] }> = Omit<Answer, "data"> & {
  readonly data: IteratorObject<Answer["data"][number]>;
};

/** Encodes drawn images with their seeds and settings. */
export function encodeImages(images: readonly DrawnImage[], call: ImageCall, answering: Answering): Lazy<Images> {
  const { created, data, ...written } = encodeUpscaled(images, call, answering);
  return {
    created,
    background: "opaque",
    data: data.map((file, at) => ({ ...file, seed: images[at]?.seed ?? 0 })),
    ...written,
    ...(call.quality && { quality: call.quality }),
  };
}

/** Encodes image files without seeds and settings. */
export function encodeUpscaled(
  images: readonly DrawnImage[],
  { answer, work }: ImageCall,
  { created, address }: Answering,
): Lazy<Upscaled> {
  const first = images[0]?.size;
  return {
    created,
    data: images
      .values()
      .map(({ data }) => (answer === "url" ? { url: address(data) } : { b64_json: data.toBase64() })),
    output_format: work.encoding.format,
    size: first ? encodeSize(first) : "auto",
  };
}
