// Limits how much work begins in one turn of the event loop. One connection may deliver thousands of messages at once;
// handling all of them without a pause would block every other connection.

interface Waiting {
  readonly work: number;
  readonly begin: () => void;
}

export class TurnLimit {
  private begun = 0;
  private readonly waiting: Waiting[] = [];

  /** `most`: how much work begins in one turn, in the caller's unit. */
  constructor(private readonly most: number) {}

  /** Returns undefined if the work may begin now; else a promise that resolves when it may, in the order of calls. */
  enter(work = 1): Promise<void> | undefined {
    if (this.begun < this.most && this.waiting.length === 0) return this.begin(work);
    return new Promise((begin) => this.waiting.push({ work, begin }));
  }

  private begin(work: number): undefined {
    if (this.begun === 0) setImmediate(() => this.next());
    this.begun += Math.max(work, 1);
  }

  private next(): void {
    this.begun = 0;
    let count = 0;
    for (const { work } of this.waiting) {
      if (this.begun >= this.most) break;
      this.begin(work);
      count++;
    }
    for (const { begin } of this.waiting.splice(0, count)) begin();
  }
}
