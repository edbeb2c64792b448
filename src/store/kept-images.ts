// Stores drawn images for clients to fetch: in memory, for an hour, limited by bytes; the oldest are evicted first.

import type { Timers } from "../domain/clock.ts";
import { newImageId } from "../domain/ids.ts";
import type { ImageFileFormat } from "../domain/image.ts";

interface KeptImage {
  readonly bytes: Uint8Array;
  readonly format: ImageFileFormat;
}

interface Entry extends KeptImage {
  /** Expiry time, in monotonic milliseconds. */
  readonly until: number;
}

interface KeptImagesLimits {
  readonly bytes: number;
  readonly ms: number;
}

/** Larger than the largest answer: ten images of 2048 × 2048 pixels of noise. */
const KEPT_IMAGES: KeptImagesLimits = { bytes: 256 * 1024 * 1024, ms: 3_600_000 };

export class KeptImages {
  /** Entries in order of expiry. */
  private readonly entries = new Map<string, Entry>();
  private held = 0;
  private cancelSweep: (() => void) | undefined;

  constructor(
    private readonly clock: Timers,
    private readonly limits = KEPT_IMAGES,
  ) {}

  /** Stores an image, and evicts others if necessary. Returns its id, which cannot be guessed. */
  put(bytes: Uint8Array, format: ImageFileFormat): string {
    const id = newImageId();
    this.entries.set(id, { bytes, format, until: this.clock.now() + this.limits.ms });
    this.held += bytes.length;
    for (const oldest of this.entries.keys()) {
      if (this.held <= this.limits.bytes || oldest === id) break;
      this.delete(oldest);
    }
    this.expectSweep();
    return id;
  }

  /** Returns an image; undefined when unknown, expired or evicted. */
  get(id: string): KeptImage | undefined {
    return this.entries.get(id);
  }

  /** Discards all images. */
  close(): void {
    this.cancelSweep?.();
    this.entries.clear();
    this.held = 0;
  }

  /** Schedules the removal of expired images, so that memory is freed without a request. */
  private expectSweep(): void {
    const [first] = this.entries.values();
    if (this.cancelSweep || !first) return;
    this.cancelSweep = this.clock.after(Math.max(0, first.until - this.clock.now()), () => {
      this.cancelSweep = undefined;
      for (const [id, { until }] of this.entries) if (until <= this.clock.now()) this.delete(id);
      this.expectSweep();
    });
  }

  private delete(id: string): void {
    this.held -= this.entries.get(id)?.bytes.length ?? 0;
    this.entries.delete(id);
  }
}
