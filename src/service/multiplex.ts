// Runs many generations of one request, a few at a time, and merges their events into one stream as they arrive.

import type { GenerationService } from "./generation.ts";
import { MultiplexRun, type MultiplexItem } from "./multiplex-run.ts";

/**
 * Answers in the engine for each one computed: when one ends, another is already rendered and tokenized there. The rest
 * of the queue is left to other clients' requests.
 */
const ANSWERS_A_PLACE = 2;

export class MultiplexService {
  /** Live batches, the newest last. */
  private readonly live: MultiplexRun[] = [];

  /** `parallel` generations are computed concurrently. */
  constructor(
    private readonly generation: GenerationService,
    private readonly parallel: number,
  ) {}

  /**
   * Begins a batch of one client's items; `id` is the correlation id of its request. Texts of different items
   * interleave, those of one keep their order, and every item ends, whatever its outcome. Throws SvcError `server_busy`
   * when there is no place for the first item. After an abort the stream just ends. A consumer that stops early must
   * `return()` it.
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
   * Ends, with reason `cancelled`, all items of the newest batch of this correlation id, or the newest item of this
   * name: its `custom_id`, or its batch's correlation id, a colon and its `custom_id`; of the client `owner` if given.
   * False when there is none.
   */
  cancel(id: string, owner?: string): boolean {
    return this.live.findLast((run) => run.cancel(id, owner)) !== undefined;
  }
}
