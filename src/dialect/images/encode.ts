// Drawn images as answers of /v1/images/generations and /v1/images/edits.

import type { Images } from "../../contract/images.ts";
import { SvcError } from "../../domain/errors.ts";
import type { DrawingEvent, ImageSize } from "../../domain/image.ts";
import type { ImageCall } from "./decode.ts";

export type DrawnImage = Pick<Extract<DrawingEvent, { readonly type: "image" }>, "data" | "size" | "seed">;

/** Collects what is drawn. Throws what the drawing throws. */
export async function collectImages(events: AsyncIterable<DrawingEvent>): Promise<DrawnImage[]> {
  const images: DrawnImage[] = [];
  for await (const event of events) if (event.type === "image") images.push(event);
  if (images.length > 0) return images;
  throw new SvcError("internal_error", "The drawing ended without an image.");
}

/** `512x512` */
export const encodeSize = ({ width, height }: ImageSize): string => `${width}x${height}`;

/** The answer; `address` says where an image is kept. `created`: Unix seconds. */
export function encodeImages(
  images: readonly DrawnImage[],
  { answer, work, quality }: ImageCall,
  { created, address }: { readonly created: number; readonly address: (data: Uint8Array) => string },
): Images {
  const first = images[0]?.size;
  return {
    created,
    background: "opaque",
    data: images.map(({ data, seed }) => ({
      ...(answer === "url" ? { url: address(data) } : { b64_json: data.toBase64() }),
      seed,
    })),
    output_format: work.encoding.format,
    size: first ? encodeSize(first) : "auto",
    ...(quality && { quality }),
  };
}
