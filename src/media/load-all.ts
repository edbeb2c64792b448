// Loads all media of a request: a few at a time, in order, all or none.

import { invalidValue } from "../domain/errors.ts";
import { contentOf, type ImageSource, type Media, type MediaSource } from "../domain/media.ts";
import type { MediaLimits } from "./limits.ts";
import { release } from "./image.ts";
import { inlineImage, isWebUrl, loadMedia } from "./load-media.ts";

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
  const loaded: Media[] = [];
  try {
    await each(parts, limits, signal, async ({ source, param }, index, stop) => {
      const media = (loaded[index] = await loadMedia(source, param, limits, stop));
      hold(contentOf(media).length);
    });
  } catch (error) {
    for (const media of loaded) if (media?.kind === "image") release(media.rgb);
    throw error;
  }
  return loaded;
}

/** Fetches the images at http(s) URLs, as `loadAll` does, and returns them as data: URLs, by their parts. */
export async function inlineAll<Part extends MediaPart>(
  parts: readonly Part[],
  limits: MediaLimits,
  signal: AbortSignal,
  hold: (bytes: number) => void,
): Promise<Map<Part, ImageSource>> {
  const inlined = new Map<Part, ImageSource>();
  await each(parts.filter(isElsewhere), limits, signal, async (part, _, stop) => {
    const { source, param } = part;
    const url = await inlineImage(source.url, param, limits, stop);
    inlined.set(part, { ...source, url });
    hold(url.length);
  });
  return inlined;
}

const isElsewhere = <Part extends MediaPart>(part: Part): part is Part & { readonly source: ImageSource } =>
  part.source.kind === "image" && isWebUrl(part.source.url);

/** Calls `work` for each medium, for a few at a time. The first failure stops the others. */
async function each<Part extends MediaPart>(
  parts: readonly Part[],
  limits: MediaLimits,
  signal: AbortSignal,
  work: (part: Part, index: number, stop: AbortSignal) => Promise<void>,
): Promise<void> {
  checkCount(parts, limits);
  signal.throwIfAborted();
  const group = new AbortController();
  const stop = AbortSignal.any([signal, group.signal]);
  const waiting = parts.entries();
  const lanes = Array.from({ length: Math.min(limits.parallel, parts.length) }, async () => {
    try {
      for (const [index, part] of waiting) await work(part, index, stop);
    } catch (error) {
      // The first reason of an abort stays, so the later failures that it causes are ignored.
      group.abort(error);
    }
  });
  await Promise.all(lanes);
  stop.throwIfAborted();
}

/** Throws SvcError `invalid_value` when there are too many media. */
export function checkCount(parts: readonly MediaPart[], { maxCount }: Pick<MediaLimits, "maxCount">): void {
  if (parts.length <= maxCount) return;
  const field = parts[0]?.param.split(".")[0] ?? "messages";
  throw invalidValue(field, `hold at most ${maxCount} images and audio clips`, parts.length);
}
