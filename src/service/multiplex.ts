// Runs many generations of one request, a few at a time, and merges their events into one stream as they arrive.

import type { RequestOrigin } from "../domain/request-origin.ts";
import type { GenerationService } from "./generation.ts";
import { MultiplexRun, type MultiplexItem } from "./multiplex-run.ts";
import type { RequestService } from "./request.ts";

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
    private readonly requests: Pick<RequestService, "attach">,
    private readonly parallel: number,
  ) {}

  /**
   * Begins a batch of one client's items. Texts of different items interleave, those of one keep their order, and every
   * item ends, whatever its outcome. A request to cancel the batch's correlation id ends all items, with the reason
   * `cancelled`. Throws SvcError `server_busy` when there is no place for the first item. After an abort the stream
   * just ends. A consumer that stops early must `return()` it.
   */
  begin(origin: RequestOrigin, items: readonly MultiplexItem[], signal: AbortSignal): MultiplexRun {
    this.generation.checkCapacity(items[0]?.request.model, origin);
    const run = new MultiplexRun(origin.id, items, {
      generation: this.generation,
      answersAtOnce: ANSWERS_A_PLACE * this.parallel,
      signal,
      onEnd: () => {
        detach();
        this.live.splice(this.live.indexOf(run), 1);
      },
    });
    // When the server stops, items that have begun are cancelled like any request, and the others are refused.
    const detach = this.requests.attach(origin, (cause) => cause === "id" && run.cancelAll());
    this.live.push(run);
    return run;
  }

  /**
   * Ends, with reason `cancelled`, the newest item of this name: its `custom_id`, or its batch's correlation id, a colon
   * and its `custom_id`; of the client `owner` if given. False when there is none.
   */
  cancel(name: string, owner?: string): boolean {
    return this.live.findLast((run) => run.cancel(name, owner)) !== undefined;
  }
}
