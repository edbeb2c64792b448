// Encodes images as a stream: OpenAI's events, and svc's own event for each step if requested.

import { errorObject } from "../../contract/errors.ts";
import type { DrawingEvent, ImageSize } from "../../domain/image.ts";
import type { NamedEvent, Put, StreamWriter } from "../stream/streamed.ts";
import type { ImageCall } from "./decode.ts";
import { encodeSize } from "./encode.ts";

export interface ImageStreamOptions {
  /** Prefix of the event names. */
  readonly kind: "image_generation" | "image_edit";
  readonly call: ImageCall;
  readonly requestId: string;
  /** Unix seconds. */
  readonly now: () => number;
}

/** Images are not counted in tokens; OpenAI's types require the numbers in this event, and some clients insist on them. */
const NO_TOKENS = {
  total_tokens: 0,
  input_tokens: 0,
  output_tokens: 0,
  input_tokens_details: { text_tokens: 0, image_tokens: 0 },
};

/** Writes the previews of each image, then the image. */
export function imageWriter(
  put: Put<NamedEvent>,
  { kind, call, requestId, now }: ImageStreamOptions,
): StreamWriter<DrawingEvent> {
  const send = (name: string, rest: object) => {
    const type = name === "error" ? name : `${kind}.${name}`;
    put({ event: type, data: JSON.stringify({ type, ...rest }) });
  };
  const common = (data: Uint8Array, image: number, size: ImageSize) => ({
    b64_json: data.toBase64(),
    created_at: now(),
    background: "opaque",
    output_format: call.work.encoding.format,
    size: encodeSize(size),
    quality: call.quality ?? "auto",
    image_index: image,
  });
  return {
    event(event) {
      if (event.type === "progress" && call.progress) {
        const { image, step, steps } = event;
        send("progress", { image_index: image, step, steps });
      }
      if (event.type === "preview") {
        const { data, image, index, size } = event;
        send("partial_image", { ...common(data, image, size), partial_image_index: index });
      }
      if (event.type === "image") {
        const { data, image, size, seed } = event;
        send("completed", { ...common(data, image, size), seed, usage: NO_TOKENS });
      }
    },
    failure(error) {
      send("error", { error: errorObject(error, requestId) });
    },
  };
}
