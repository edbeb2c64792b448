// Stores drawn images for clients to fetch: in memory, for an hour, limited by bytes; the oldest are evicted first.

import type { Timers } from "../domain/clock.ts";
import { newImageId } from "../domain/ids.ts";
import type { ImageFileFormat } from "../domain/image.ts";
import { BoundedStore } from "./bounded-store.ts";

interface KeptImage {
  readonly bytes: Uint8Array;
  readonly format: ImageFileFormat;
}

interface Entry extends KeptImage {
  /** Cancels the removal at the expiry time. */
  readonly cancelExpiry: () => void;
}

interface KeptImagesLimits {
  readonly bytes: number;
  readonly ms: number;
}

/** Larger than the largest answer: ten images of 2048 × 2048 pixels of noise. */
const KEPT_IMAGES: KeptImagesLimits = { bytes: 256 * 1024 * 1024, ms: 3_600_000 };

export class KeptImages {
  private readonly images: BoundedStore<Entry>;

  constructor(
    private readonly clock: Timers,
    private readonly limits = KEPT_IMAGES,
  ) {
    this.images = new BoundedStore({ count: Infinity, bytes: limits.bytes }, ({ cancelExpiry }) => cancelExpiry());
  }

  /** Stores an image, and evicts others if necessary. Returns its id, which cannot be guessed. */
  put(bytes: Uint8Array, format: ImageFileFormat): string {
    const id = newImageId();
    const cancelExpiry = this.clock.after(this.limits.ms, () => this.images.delete(id));
    this.images.put(id, { bytes, format, cancelExpiry }, bytes.length);
    return id;
  }

  /** Returns an image; undefined when unknown, expired or evicted. */
  get(id: string): KeptImage | undefined {
    return this.images.get(id);
  }

  /** Discards all images. */
  close(): void {
    this.images.clear();
  }
}
