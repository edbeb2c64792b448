// Many generations of one request in one stream: a few at once, whose events come as they are made.

import type { GenerationService } from "./generation.ts";
import { MultiplexRun, type MultiplexItem } from "./multiplex-run.ts";

/**
 * Answers in the engine for each that runs: whoever ends makes room for one that waits there, rendered and tokenized, and
 * other clients' requests have the rest of the queue.
 */
const ANSWERS_A_PLACE = 2;

export class MultiplexService {
  /** The newest is the last. */
  private readonly live: MultiplexRun[] = [];

  /** `parallel` generations run at once. */
  constructor(
    private readonly generation: GenerationService,
    private readonly parallel: number,
  ) {}

  /**
   * Begins a batch whose items are one client's; `id` is the correlation id of its request. Its texts come in any order, one
   * item's in theirs; every item ends, however it does. Throws SvcError `server_busy` when there is no place for its first
   * item. After an abort the stream just ends. Whoever stops reading must `return()` it.
   */
  begin(id: string, items: readonly MultiplexItem[], signal: AbortSignal): MultiplexRun {
    this.generation.checkCapacity(items[0]?.request.model);
    const run = new MultiplexRun(id, items, {
      generation: this.generation,
      answersAtOnce: ANSWERS_A_PLACE * this.parallel,
      signal,
      onEnd: () => void this.live.splice(this.live.indexOf(run), 1),
    });
    this.live.push(run);
    return run;
  }

  /**
   * Ends, with reason `cancelled`, all items of the newest batch of this correlation id, or the newest item named so: by
   * its `custom_id`, or by that behind the correlation id of its batch and a colon. False when there is none.
   */
  cancel(id: string): boolean {
    return this.live.findLast((run) => run.cancel(id)) !== undefined;
  }
}
