// Runs one multiplex batch from its first item to its last.

import type { AcceptedEvent, GenerateEvent, Generation } from "../domain/generate.ts";
import type { RequestOrigin } from "../domain/request-origin.ts";
import { joinUsage, type Usage } from "../domain/usage.ts";
import type { GenerationService } from "./generation.ts";
import type { HeldAnswer } from "./held-answer.ts";
import type { RequestReport } from "./request.ts";
import { neverBegun } from "./never-begun.ts";

type Events = AsyncGenerator<GenerateEvent, void, void>;

/** What a client reads of an item: a text, or its parts if it is long. */
export type ItemText = string | Iterable<string>;

export interface MultiplexItem {
  readonly customId: string;
  readonly request: Generation;
  readonly origin: RequestOrigin;
  /** Counts the item's answer; undefined if the answer is streamed. */
  readonly held: HeldAnswer | undefined;
  /** Encodes an accepted generation as the client reads it. Throws what the generation throws. */
  readonly texts: (events: Events, accepted: AcceptedEvent) => AsyncIterable<ItemText>;
  /** Encodes a failed generation. */
  readonly failure: (error: unknown) => string;
}

interface MultiplexOptions {
  readonly generation: GenerationService;
  /** Maximum number of answers in the engine at the same time; an item with more answers runs alone. */
  readonly answersAtOnce: number;
  /** Aborted when the client disconnects. */
  readonly signal: AbortSignal;
  readonly onEnd: () => void;
}

interface LiveItem extends MultiplexItem {
  readonly report: RequestReport;
  cancelled: boolean;
}

/** A text, and the callback that lets its item continue. */
interface Delivery {
  readonly text: ItemText;
  readonly taken: () => void;
}

export class MultiplexRun {
  /** Number of items that failed. */
  failed = 0;
  usage: Usage | undefined;
  /** Items not yet begun, in order. */
  private readonly waiting: Set<LiveItem>;
  private readonly running = new Set<LiveItem>();
  private answers = 0;
  /** At most one text of each item, so a slow reader applies backpressure to the items. */
  private readonly ready: Delivery[] = [];
  private updates = Promise.withResolvers<void>();
  private isRead = true;

  constructor(
    private readonly id: string,
    items: readonly MultiplexItem[],
    private readonly options: MultiplexOptions,
  ) {
    this.waiting = new Set(items.map((item) => ({ ...item, report: {}, cancelled: false })));
  }

  /** Emits the texts of all items. Call it only once. */
  async *texts(): AsyncGenerator<ItemText, void, void> {
    try {
      this.beginMore();
      while (this.running.size > 0 || this.ready.length > 0) {
        const next = this.ready.shift();
        if (next) {
          try {
            yield next.text;
          } finally {
            next.taken();
          }
        } else {
          await this.updates.promise;
          this.updates = Promise.withResolvers();
        }
      }
    } finally {
      this.isRead = false;
      this.waiting.clear();
      for (const { taken } of this.ready) taken();
      this.options.onEnd();
    }
  }

  /** Cancels all items. */
  cancelAll(): void {
    for (const item of this.live()) this.cancelItem(item);
  }

  /**
   * Cancels an item by its name, or by the batch's id and its name, if the batch is of the client `owner` or none is
   * given; returns false when no live item matches.
   */
  cancel(name: string, owner?: string): boolean {
    const named = this.live().find(
      ({ customId, origin }) =>
        (owner === undefined || origin.client === owner) && (name === customId || name === `${this.id}:${customId}`),
    );
    if (named) this.cancelItem(named);
    return named !== undefined;
  }

  private cancelItem(item: LiveItem): void {
    item.cancelled = true;
    item.report.cancel?.();
    // A cancelled item ends at once, so it needs no place.
    if (this.waiting.delete(item)) this.start(item);
  }

  /** Returns the items whose generation has not ended; the answers of others may still wait for the reader. */
  private live(): LiveItem[] {
    return [...[...this.running].filter(({ report }) => report.cancel), ...this.waiting];
  }

  private beginMore(): void {
    // No client would read their answers.
    if (this.options.signal.aborted) this.waiting.clear();
    for (const item of this.waiting) {
      const { choices } = item.request;
      if (this.answers > 0 && this.answers + choices > this.options.answersAtOnce) return;
      this.waiting.delete(item);
      this.start(item);
    }
  }

  private start(item: LiveItem): void {
    this.running.add(item);
    this.answers += item.request.choices;
    void this.run(item).finally(() => {
      this.running.delete(item);
      this.answers -= item.request.choices;
      this.beginMore();
      this.updates.resolve();
    });
  }

  private async run(item: LiveItem): Promise<void> {
    const { signal } = this.options;
    const events = this.generate(item);
    try {
      const { value: accepted } = await events.next();
      if (accepted?.type !== "accepted") throw new Error("a generation without its acceptance");
      for await (const text of item.texts(events, accepted)) if (!(await this.deliver(text))) return;
    } catch (error) {
      if (signal.aborted) return;
      this.failed++;
      await this.deliver(item.failure(error));
    } finally {
      await events.return();
      item.held?.close();
      const { usage } = item.report;
      if (usage) this.usage = this.usage ? joinUsage(this.usage, usage) : usage;
    }
  }

  private generate({ cancelled, request, origin, held, report }: LiveItem): Events {
    if (cancelled) return neverBegun(request.choices, "id");
    const { generation, signal } = this.options;
    return generation.generate([request], origin, signal, report, { assured: true, held });
  }

  /** Resolves when the reader has taken the text: true if the reader continues, false if not. */
  private async deliver(text: ItemText): Promise<boolean> {
    if (!this.isRead) return false;
    const { promise, resolve: taken } = Promise.withResolvers<void>();
    this.ready.push({ text, taken });
    this.updates.resolve();
    await promise;
    return this.isRead;
  }
}
