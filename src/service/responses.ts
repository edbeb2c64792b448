// Answers that outlive their request: kept for fetching and continuing, and ended by their own id.

import type { ChatMessage } from "../domain/generate.ts";
import { memoryOf } from "../domain/json-bounds.ts";
import { BoundedStore, type StoreLimits } from "../store/bounded-store.ts";
import { EventLog } from "./event-log.ts";

interface Running {
  /** Ends its generation. */
  readonly stop: () => void;
  readonly ended: PromiseWithResolvers<void>;
}

/** What of a response is kept from its beginning on. */
interface KeptResponse<Resource, Event> {
  readonly resource: Resource;
  readonly input: readonly unknown[];
  /** What its stream told and tells, filled by `record`; absent where that is not kept. */
  readonly events?: EventLog<Event>;
}

interface StoredResponse<Resource, Event> extends KeptResponse<Resource, Event> {
  /** Everything up to and with this answer, for a next turn; undefined while it is being made. */
  readonly conversation: readonly ChatMessage[] | undefined;
}

/** `Resource` and `Event` are the wire's; here they are only kept. */
export class ResponsesService<Resource, Event extends { readonly data: string }> {
  private readonly store: BoundedStore<StoredResponse<Resource, Event>>;
  private readonly running = new Map<string, Running>();

  constructor(limits: StoreLimits) {
    this.store = new BoundedStore(limits);
  }

  /** A generation begins, which `stop` ends; with `kept` its answer can be fetched from now on. */
  begin(id: string, stop: () => void, kept: KeptResponse<Resource, Event> | undefined): void {
    this.running.set(id, { stop, ended: Promise.withResolvers() });
    if (kept) this.put(id, { ...kept, conversation: undefined });
  }

  /** A generation has ended, however. An answer that was deleted or pushed out meanwhile does not come back. */
  end(id: string, resource: Resource, conversation: readonly ChatMessage[]): void {
    this.running.get(id)?.ended.resolve();
    this.running.delete(id);
    const stored = this.store.get(id);
    if (stored) this.put(id, { ...stored, resource, conversation });
  }

  /** A generation was refused: there is nothing to keep, and nothing of its own to end. */
  forget(id: string): void {
    this.running.get(id)?.ended.resolve();
    this.running.delete(id);
    this.store.delete(id);
  }

  /** Generations under way, and zero when nothing runs. */
  get runningCount(): number {
    return this.running.size;
  }

  /** Reads to its end what the stream of an answer tells, for readers of `events` who come now, later or again. */
  async record(id: string, events: EventLog<Event>, source: AsyncIterable<Event>): Promise<void> {
    for await (const event of source) {
      events.append(event);
      this.store.grow(id, event.data.length);
    }
    events.end();
  }

  get(id: string): StoredResponse<Resource, Event> | undefined {
    return this.store.get(id);
  }

  /** False when there is none. Its generation, if one is under way, is ended. */
  delete(id: string): boolean {
    this.running.get(id)?.stop();
    return this.store.delete(id);
  }

  /** Ends the generation of an answer and resolves when it is over; at once when none is under way. */
  async cancel(id: string): Promise<void> {
    const running = this.running.get(id);
    if (!running) return;
    running.stop();
    await running.ended.promise;
  }

  /** All answers, the newest first. */
  *resources(): Generator<Resource, void, void> {
    for (const { resource } of this.store.values()) yield resource;
  }

  private put(id: string, response: StoredResponse<Resource, Event>): void {
    const { resource, input, conversation } = response;
    this.store.put(id, response, memoryOf([resource, input, conversation]));
  }
}
