// Tracks the progress of the requests to one image engine, and estimates when a place in it is free.

import type { DrawingEvent } from "../domain/image.ts";
import type { Progress } from "../domain/request-record.ts";

class Drawing implements Progress {
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

  /** Begins a request. Pass its events to the result, and call `end` when it is over. */
  begin(images: number): Drawing {
    const drawing = new Drawing(images);
    this.drawings.add(drawing);
    return drawing;
  }

  /** Ends a request. */
  end(drawing: Drawing): void {
    this.drawings.delete(drawing);
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
