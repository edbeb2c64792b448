// Tracks the progress of the requests to one image engine, and estimates when a place in it is free.

import type { DrawingEvent, ImageProgress } from "../domain/image.ts";

class Drawing implements ImageProgress {
  done = 0;
  step = 0;
  steps = 0;

  constructor(readonly of: number) {}

  /** Steps left of all images; undefined before the first step is done. */
  get stepsLeft(): number | undefined {
    return this.steps === 0 ? undefined : (this.of - this.done) * this.steps - this.step;
  }

  see(event: DrawingEvent): void {
    if (event.type === "progress") {
      this.step = event.step;
      this.steps = event.steps;
    }
    if (event.type === "image") {
      this.done = event.image + 1;
      this.step = 0;
    }
  }
}

/** Admission gets this in the engine's place, because it knows when a place is free. */
export class ImageProgresses {
  private readonly drawings = new Set<Drawing>();

  /** `stepSeconds` returns the recent duration of a step; undefined when none was measured. */
  constructor(private readonly stepSeconds: () => number | undefined) {}

  /** Begins a request. Returns its progress, `see` to pass its events to, and `end` to call at its end. */
  begin(images: number): { readonly progress: ImageProgress; see(event: DrawingEvent): void; end(): void } {
    const drawing = new Drawing(images);
    this.drawings.add(drawing);
    return {
      progress: drawing,
      see: (event) => drawing.see(event),
      end: () => void this.drawings.delete(drawing),
    };
  }

  /** Steps left of all requests that are being drawn. */
  get stepsLeft(): number {
    return this.left().reduce((sum, steps) => sum + steps, 0);
  }

  /** Returns the milliseconds until the first request ends (they take turns); undefined if no step was measured. */
  placeFreeMs(): number | undefined {
    const left = this.left();
    const seconds = this.stepSeconds();
    if (left.length === 0 || seconds === undefined) return undefined;
    return Math.min(...left) * left.length * seconds * 1000;
  }

  private left(): number[] {
    return [...this.drawings].flatMap(({ stepsLeft }) => stepsLeft ?? []);
  }
}
