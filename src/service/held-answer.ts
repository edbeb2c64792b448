// An answer of which nobody sees anything before its end, so that it may begin again.

import type { AcceptedEvent, GenerateEvent } from "../domain/generate.ts";
import { TurnLimit } from "../domain/turn-limit.ts";

/** There may be a hundred thousand, and each goes through several hands. */
const EVENTS_IN_A_TURN = 500;

export class HeldAnswer {
  private held: Exclude<GenerateEvent, AcceptedEvent>[] = [];

  /** The same events: the acceptance at once, the others when all are there. */
  async *of(events: AsyncIterable<GenerateEvent>): AsyncGenerator<GenerateEvent, void, void> {
    for await (const event of events) {
      if (event.type === "accepted") yield event;
      else this.held.push(event);
    }
    const turns = new TurnLimit(EVENTS_IN_A_TURN);
    for (const event of this.held) {
      await turns.enter(1);
      yield event;
    }
  }

  /** What has come of this answer is no part of it. `choice`: as its events have it. */
  restarted(choice: number | undefined): void {
    this.held = this.held.filter((event) => event.choice !== choice);
  }
}
