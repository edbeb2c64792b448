// Events in order of time: a binary heap, because there are hundreds of thousands.

export interface Happening {
  readonly at: number;
  readonly act: () => void;
}

export class EventQueue {
  private readonly heap: Happening[] = [];

  at(at: number, act: () => void): void {
    const { heap } = this;
    heap.push({ at, act });
    for (let child = heap.length - 1; child > 0;) {
      const parent = (child - 1) >> 1;
      if (this.time(parent) <= at) return;
      this.swap(child, parent);
      child = parent;
    }
  }

  /** Removes and returns the earliest event. */
  next(): Happening | undefined {
    const { heap } = this;
    const [first] = heap;
    const last = heap.pop();
    if (!first || !last || heap.length === 0) return first;
    heap[0] = last;
    for (let parent = 0; ;) {
      const [left, right] = [2 * parent + 1, 2 * parent + 2];
      const child = this.time(right) < this.time(left) ? right : left;
      if (this.time(child) >= last.at) return first;
      this.swap(child, parent);
      parent = child;
    }
  }

  private time(index: number): number {
    return this.heap[index]?.at ?? Infinity;
  }

  private swap(a: number, b: number): void {
    [this.heap[a], this.heap[b]] = [this.heap[b] as Happening, this.heap[a] as Happening];
  }
}
