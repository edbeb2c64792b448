// Checks whether anybody still waits for the page being read, and gives signs of life. Called from within native code or
// WebAssembly, which blocks the thread that receives messages.

import type { JobKey } from "../../process/protocol.ts";

/** Thrown when nobody waits for the page any more. */
export class Stopped extends Error {
  override readonly name = "Stopped";
}

/** Thrown when a page takes longer than any page of text does. */
export class TooLong extends Error {
  override readonly name = "TooLong";

  constructor(readonly limitMs: number) {
    super(`more than ${limitMs} ms of computing`);
  }
}

/** The socket to the parent process. */
interface Parent {
  aborts(): readonly number[];
  tellMoved(work: string): void;
}

/** The clocks, in milliseconds. */
interface WatchClock {
  now(): number;
  /** Processor time of this process. */
  computed(): number;
}

/** Milliseconds of processor time. A page of small print takes a tenth of it, and three tenths on a slow machine. */
export const LONGEST_PAGE_MS = { tesseract: 60_000, ppocr: 180_000 } as const;
/** Milliseconds between signs of life, as in other engines. */
const TELL_MS = 1000;

export class Watch {
  private current: JobKey | undefined;
  private isStopped = false;
  private toldAt = 0;
  private computedBefore = 0;
  private limitMs: number = LONGEST_PAGE_MS.tesseract;

  constructor(
    private readonly parent: Parent,
    private readonly clock: WatchClock,
  ) {}

  /** Begins the work of a job, which may take this long. */
  begin(key: JobKey, limitMs: number): void {
    this.current = key;
    this.limitMs = limitMs;
    this.isStopped = false;
    this.computedBefore = this.clock.computed();
  }

  end(): void {
    this.current = undefined;
  }

  /** Stops the job if it is the current one: nobody waits for it. */
  stop(key: JobKey): void {
    if (key === this.current) this.isStopped = true;
  }

  /** Throws Stopped when nobody waits for the current job, and TooLong when it takes too long. */
  readonly check = (): void => {
    for (const key of this.parent.aborts()) this.stop(key);
    if (this.isStopped) throw new Stopped();
    if (this.clock.computed() - this.computedBefore > this.limitMs) throw new TooLong(this.limitMs);
    const now = this.clock.now();
    if (now - this.toldAt < TELL_MS) return;
    this.toldAt = now;
    this.parent.tellMoved("recognition");
  };
}
