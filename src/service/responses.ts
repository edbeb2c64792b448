// Stores responses beyond their requests, for fetching and continuing, and cancels them by their own id.

import type { ChatMessage } from "../domain/generate.ts";
import { memoryOf } from "../domain/json-bounds.ts";
import { BoundedStore, type StoreLimits } from "../store/bounded-store.ts";
import { EventLog } from "./event-log.ts";

/** The generation of a response. */
interface Generating {
  /** The client that began it, where clients are distinguished. */
  readonly client: string | undefined;
  readonly stop: () => void;
}

interface Running extends Generating {
  readonly ended: PromiseWithResolvers<void>;
}

/** The parts of a response that are stored from its beginning on. */
interface KeptResponse<Resource, Event> {
  readonly resource: Resource;
  readonly input: readonly { readonly id: string }[];
  /** Past and future events of its stream, filled by `record`; absent if the stream is not stored. */
  readonly events?: EventLog<Event>;
}

interface StoredResponse<Resource, Event> extends KeptResponse<Resource, Event> {
  /** All messages up to and including this answer, for the next turn; undefined until the answer is complete. */
  readonly conversation: readonly ChatMessage[] | undefined;
}

/** What this service reads of a resource: the items of its answer. */
interface WithOutput {
  readonly output: readonly { readonly id: string }[];
}

/** `Resource` and `Event` are types of the wire; this service only stores them. */
export class ResponsesService<Resource extends WithOutput, Event extends { readonly data: string }> {
  private readonly store: BoundedStore<StoredResponse<Resource, Event>>;
  /** The output items of all stored responses by their ids: a request may refer to thousands. */
  private readonly items = new Map<string, Resource["output"][number]>();
  private readonly running = new Map<string, Running>();

  constructor(limits: StoreLimits) {
    this.store = new BoundedStore(limits, ({ resource }) => {
      for (const { id } of resource.output) this.items.delete(id);
    });
  }

  /** Begins a generation; with `kept` the response can be fetched from now on. */
  begin(id: string, generating: Generating, kept: KeptResponse<Resource, Event> | undefined): void {
    this.running.set(id, { ...generating, ended: Promise.withResolvers() });
    if (kept) this.put(id, { ...kept, conversation: undefined });
  }

  /** Records the end of a generation. A response deleted or evicted meanwhile is not stored again. */
  end(id: string, resource: Resource, conversation: readonly ChatMessage[]): void {
    this.running.get(id)?.ended.resolve();
    this.running.delete(id);
    const stored = this.store.get(id);
    if (stored) this.put(id, { ...stored, resource, conversation });
  }

  /** Forgets a refused generation: there is nothing to store or end. */
  forget(id: string): void {
    this.running.get(id)?.ended.resolve();
    this.running.delete(id);
    this.store.delete(id);
  }

  /** Appends all events of a response's stream to `events`, which readers can join at any time. */
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

  /** Returns whether the response is over, or was begun by the client `owner`, if given. */
  mayEnd(id: string, owner: string | undefined): boolean {
    const running = this.running.get(id);
    return !running || owner === undefined || running.client === owner;
  }

  /** Deletes a response and ends its generation, if still running. Returns false when there is no such response. */
  delete(id: string): boolean {
    this.running.get(id)?.stop();
    return this.store.delete(id);
  }

  /** Ends the generation of a response and resolves when it is over; at once when none is running. */
  async cancel(id: string): Promise<void> {
    const running = this.running.get(id);
    if (!running) return;
    running.stop();
    await running.ended.promise;
  }

  /** Returns an output item of a stored response by its id; undefined when no response has it. */
  item(id: string): Resource["output"][number] | undefined {
    return this.items.get(id);
  }

  private put(id: string, response: StoredResponse<Resource, Event>): void {
    const { resource, input, conversation } = response;
    this.store.put(id, response, memoryOf([resource, input, conversation]));
    if (this.store.get(id) === response) for (const item of resource.output) this.items.set(item.id, item);
  }
}
