// Runs one multiplex batch from its first item to its last.

import type { AcceptedEvent, GenerateEvent, Generation } from "../domain/generate.ts";
import type { RequestOrigin } from "../domain/request-origin.ts";
import { joinUsage, type Usage } from "../domain/usage.ts";
import { acceptance, type GenerationService } from "./generation.ts";
import type { HeldAnswer } from "./held-answer.ts";
import { Merge } from "./merge.ts";
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

export class MultiplexRun {
  /** Number of items that failed. */
  failed = 0;
  usage: Usage | undefined;
  /** Items not yet begun, in order. */
  private readonly waiting: Set<LiveItem>;
  private readonly running = new Map<LiveItem, AsyncGenerator<ItemText, void, void>>();
  private answers = 0;
  private readonly merge = new Merge<ItemText>();

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
      for await (const { value } of this.merge.values()) yield value;
    } finally {
      this.waiting.clear();
      for (const texts of this.running.values()) void texts.return();
      this.options.onEnd();
    }
  }

  /** Cancels all items; returns false when all of them are complete. */
  cancelAll(): boolean {
    return this.live().filter((item) => this.cancelItem(item)).length > 0;
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
    return named !== undefined && this.cancelItem(named);
  }

  private cancelItem(item: LiveItem): boolean {
    item.cancelled = true;
    if (!this.waiting.delete(item)) return item.report.cancel?.() ?? false;
    // A cancelled item ends at once, so it needs no place.
    this.start(item);
    return true;
  }

  /** Returns the items whose generation has not ended; the answers of others may still wait for the reader. */
  private live(): LiveItem[] {
    return [...[...this.running.keys()].filter(({ report }) => report.cancel), ...this.waiting];
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
    const texts = this.textsOf(item);
    this.running.set(item, texts);
    this.answers += item.request.choices;
    this.merge.add(0, texts);
  }

  /** Emits the texts of an item, which keeps its place until the reader has taken the last one. */
  private async *textsOf(item: LiveItem): AsyncGenerator<ItemText, void, void> {
    const { signal } = this.options;
    const events = this.generate(item);
    try {
      yield* item.texts(events, await acceptance(events));
    } catch (error) {
      if (signal.aborted) return;
      this.failed++;
      yield item.failure(error);
    } finally {
      await events.return();
      item.held?.close();
      const { usage } = item.report;
      if (usage) this.usage = this.usage ? joinUsage(this.usage, usage) : usage;
      this.running.delete(item);
      this.answers -= item.request.choices;
      this.beginMore();
    }
  }

  private generate({ cancelled, request, origin, held, report }: LiveItem): Events {
    if (cancelled) return neverBegun(request.choices, "id");
    const { generation, signal } = this.options;
    return generation.generate([request], origin, signal, report, { assured: true, held });
  }
}
