// Drawn images that clients may fetch: in memory, for an hour, bounded by their bytes, the oldest out first.

import type { Timers } from "../domain/clock.ts";
import { newImageId } from "../domain/ids.ts";
import type { ImageFileFormat } from "../domain/image.ts";

interface KeptImage {
  readonly bytes: Uint8Array;
  readonly format: ImageFileFormat;
}

interface Entry extends KeptImage {
  /** Monotonic milliseconds. */
  readonly until: number;
}

interface KeptImagesLimits {
  readonly bytes: number;
  readonly ms: number;
}

/** More than the largest answer has, ten images of 2048 × 2048 pixels of noise. */
const KEPT_IMAGES: KeptImagesLimits = { bytes: 256 * 1024 * 1024, ms: 3_600_000 };

export class KeptImages {
  /** In the order in which they expire. */
  private readonly entries = new Map<string, Entry>();
  private held = 0;
  private cancelSweep: (() => void) | undefined;

  constructor(
    private readonly clock: Timers,
    private readonly limits = KEPT_IMAGES,
  ) {}

  /** Bytes of all. */
  get bytes(): number {
    return this.held;
  }

  /** Keeps an image, others go out where they must. Returns its id, which nobody can guess. */
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

  /** Undefined when there is none, or none any more. */
  get(id: string): KeptImage | undefined {
    return this.entries.get(id);
  }

  /** Keeps none any more. */
  close(): void {
    this.cancelSweep?.();
    this.entries.clear();
    this.held = 0;
  }

  /** The memory is given back when the time is over, whoever asks. */
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
