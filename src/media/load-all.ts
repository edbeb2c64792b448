// Loads all media of a request: a few at a time, in order, all or none.

import { invalidValue } from "../domain/errors.ts";
import { contentOf, type Media, type MediaSource } from "../domain/media.ts";
import type { MediaLimits } from "./limits.ts";
import { release } from "./image.ts";
import { loadMedia } from "./load-media.ts";

/** A medium and the request field that it came from. */
export interface MediaPart {
  readonly source: MediaSource;
  readonly param: string;
}

/**
 * Loads up to `limits.parallel` media at a time and returns them in the order of `parts`. `hold` receives the size in
 * bytes of each loaded medium. The first failure stops the others and is thrown: SvcError `invalid_value`, an error of
 * `hold`, or the signal's reason. All work has ended when the promise settles.
 */
export async function loadAll(
  parts: readonly MediaPart[],
  limits: MediaLimits,
  signal: AbortSignal,
  hold: (bytes: number) => void = () => {},
): Promise<Media[]> {
  const { parallel } = limits;
  checkCount(parts, limits);
  signal.throwIfAborted();
  const group = new AbortController();
  const forward = () => group.abort(signal.reason);
  signal.addEventListener("abort", forward, { once: true });
  const loaded: Media[] = [];
  const waiting = parts.entries();
  const work = async (): Promise<void> => {
    for (const [index, { source, param }] of waiting) {
      const media = (loaded[index] = await loadMedia(source, param, limits, group.signal));
      hold(contentOf(media).length);
    }
  };
  const workers = Array.from({ length: Math.min(parallel, parts.length) }, async () => {
    try {
      await work();
    } catch (error) {
      // The first reason of an abort stays, so the later failures that it causes are ignored.
      group.abort(error);
    }
  });
  await Promise.all(workers);
  signal.removeEventListener("abort", forward);
  if (group.signal.aborted) for (const media of loaded) if (media?.kind === "image") release(media.rgb);
  group.signal.throwIfAborted();
  return loaded;
}

/** Throws SvcError `invalid_value` when there are too many media. */
export function checkCount(parts: readonly MediaPart[], { maxCount }: Pick<MediaLimits, "maxCount">): void {
  if (parts.length <= maxCount) return;
  const field = parts[0]?.param.split(".")[0] ?? "messages";
  throw invalidValue(field, `hold at most ${maxCount} images and audio clips`, parts.length);
}
