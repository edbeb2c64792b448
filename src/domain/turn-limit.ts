// How much is begun in one turn of the event loop. What one connection sends comes by the thousand at once, and what is dealt with
// without waiting would let nobody else come between.

interface Waiting {
  readonly work: number;
  readonly begin: () => void;
}

export class TurnLimit {
  private begun = 0;
  private readonly waiting: Waiting[] = [];

  /** `most`: work that is begun in one turn, in whatever it is counted. */
  constructor(private readonly most: number) {}

  /** How many have not begun. */
  get waitingCount(): number {
    return this.waiting.length;
  }

  /** Undefined: so much work may begin now; else resolves when it is its turn, in the order of the calls. */
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
