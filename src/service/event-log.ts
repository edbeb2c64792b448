// The events of one answer in their order, for readers who come at any time: from any place, to the end.

export class EventLog<Event> {
  private readonly events: Event[] = [];
  private ended = false;
  private updates = Promise.withResolvers<void>();

  append(event: Event): void {
    this.events.push(event);
    this.wake();
  }

  /** Nothing more will come. */
  end(): void {
    this.ended = true;
    this.wake();
  }

  /** The events from number `start` (the first is 0), what is still to come included. After an abort it just ends. */
  async *read(start: number, signal: AbortSignal): AsyncGenerator<Event, void, void> {
    const left = Promise.withResolvers<void>();
    const leave = () => left.resolve();
    signal.addEventListener("abort", leave, { once: true });
    try {
      for (let next = start; !signal.aborted;) {
        const event = this.events[next];
        if (event !== undefined) {
          next++;
          yield event;
        } else if (this.ended) return;
        else await Promise.race([this.updates.promise, left.promise]);
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
