// Keeps the events of one answer in order, for readers who join at any time and position and read to the end.

export class EventLog<Event> {
  private readonly events: Event[] = [];
  private ended = false;
  private updates = Promise.withResolvers<void>();

  append(event: Event): void {
    this.events.push(event);
    this.wake();
  }

  /** Marks the log as complete. */
  end(): void {
    this.ended = true;
    this.wake();
  }

  /** Emits the events from number `start` (from 0), including future ones. After an abort the stream just ends. */
  async *read(start: number, signal: AbortSignal): AsyncGenerator<Event, void, void> {
    const leave = () => this.wake();
    signal.addEventListener("abort", leave, { once: true });
    try {
      for (let next = start; !signal.aborted;) {
        const event = this.events[next];
        if (event !== undefined) {
          next++;
          yield event;
        } else if (this.ended) return;
        else await this.updates.promise;
      }
    } finally {
      signal.removeEventListener("abort", leave);
    }
  }

  private wake(): void {
    this.updates.resolve();
    this.updates = Promise.withResolvers();
  }
}
