// Whether anybody waits for the page that is being read, and that it goes on: asked and told from within WebAssembly, which
// blocks the thread that messages come on.

import type { JobKey } from "../../process/protocol.ts";

/** Nobody waits for the page any more. */
export class Stopped extends Error {
  override readonly name = "Stopped";
}

/** A page takes longer than any page of text does. */
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

/** What tells the time, in milliseconds. */
interface WatchClock {
  now(): number;
  /** Of computing, by this process. */
  computed(): number;
}

/** Of computing. A page of small print takes a tenth of it, and three times that on a slow machine. */
export const LONGEST_PAGE_MS = { tesseract: 60_000, ppocr: 180_000 } as const;
/** Signs of life come as often as those of other engines. */
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

  /** A job's work begins, which may take so long. */
  begin(key: JobKey, limitMs: number): void {
    this.current = key;
    this.limitMs = limitMs;
    this.isStopped = false;
    this.computedBefore = this.clock.computed();
  }

  end(): void {
    this.current = undefined;
  }

  /** Nobody waits for this job. */
  stop(key: JobKey): void {
    if (key === this.current) this.isStopped = true;
  }

  /** Throws Stopped when nobody waits for the job whose work it is, or TooLong. */
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
