// Holds an answer back until its end, so that it can restart unnoticed.

import type { AcceptedEvent, GenerateEvent } from "../domain/generate.ts";
import { TurnLimit } from "../domain/turn-limit.ts";

/** Events to emit per turn: there may be a hundred thousand, and each passes through several handlers. */
const EVENTS_IN_A_TURN = 500;

export class HeldAnswer {
  private held: Exclude<GenerateEvent, AcceptedEvent>[] = [];

  /** Emits the acceptance at once, and all other events after the last one has arrived. */
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

  /** Discards the events of an answer that restarts. `choice`: the answer's number, as in its events. */
  restarted(choice: number | undefined): void {
    this.held = this.held.filter((event) => event.choice !== choice);
  }
}
