// An answer of which nobody sees anything before its end, so that it may begin again.

import type { AcceptedEvent, GenerateEvent } from "../domain/generate.ts";

export class HeldAnswer {
  private held: Exclude<GenerateEvent, AcceptedEvent>[] = [];

  /** The same events: the acceptance at once, the others when all are there. */
  async *of(events: AsyncIterable<GenerateEvent>): AsyncGenerator<GenerateEvent, void, void> {
    for await (const event of events) {
      if (event.type === "accepted") yield event;
      else this.held.push(event);
    }
    yield* this.held;
  }

  /** What has come of this answer is no part of it. `choice`: as its events have it. */
  restarted(choice: number | undefined): void {
    this.held = this.held.filter((event) => event.choice !== choice);
  }
}
