// Much work of one request in several turns of the event loop, so that others have theirs between.

import { nextTurn } from "./next-turn.ts";

export class WorkTurns {
  private done = 0;

  /** `most`: work in one turn, in whatever it is counted. */
  constructor(private readonly most: number) {}

  /** Undefined: so much may be done now; else resolves when it may. */
  enter(work: number): Promise<void> | undefined {
    this.done += work;
    if (this.done < this.most) return undefined;
    this.done = 0;
    return nextTurn();
  }
}
