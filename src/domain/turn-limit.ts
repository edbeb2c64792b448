// How much is begun in one turn of the event loop. What one connection sends comes by the thousand at once, and what is dealt with
// without waiting would let nobody else come between.

export class TurnLimit {
  private begun = 0;
  private readonly waiting: (() => void)[] = [];

  /** `most`: that are begun in one turn. */
  constructor(private readonly most: number) {}

  /** How many have not begun. */
  get waitingCount(): number {
    return this.waiting.length;
  }

  /** Undefined: it may begin now; else resolves when it is its turn, in the order of the calls. */
  enter(): Promise<void> | undefined {
    if (this.begun < this.most && this.waiting.length === 0) return this.begin();
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  private begin(): undefined {
    if (this.begun++ === 0) setImmediate(() => this.next());
  }

  private next(): void {
    this.begun = 0;
    for (const resolve of this.waiting.splice(0, this.most)) {
      this.begin();
      resolve();
    }
  }
}
