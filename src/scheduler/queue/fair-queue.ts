// Who is admitted next. Clients take turns by what they have been served so far, counted in tokens (as in Sheng et al.,
// "Fairness in Serving Large Language Models", 2024), so that one client's flood of requests does not hold back another's
// single one. Within a client: first come, first served. Background requests of all clients come last.

import type { Sequence } from "../sequence.ts";

interface Client {
  readonly waiting: Sequence[];
  /** Requests that wait or run. */
  live: number;
  /** Weighted tokens served, relative to those of the other clients. */
  served: number;
}

/** A sampled token counts for so many prompt tokens: it takes a step of its own, while prompt tokens share one. */
const OUTPUT_WEIGHT = 2;

export class FairQueue {
  private readonly clients = new Map<string, Client>();
  private count = 0;
  private tokenCount = 0;

  /** Requests that wait. */
  get size(): number {
    return this.count;
  }

  /** Their tokens, without those of background requests. */
  get tokens(): number {
    return this.tokenCount;
  }

  /** A new request. */
  add(sequence: Sequence): void {
    const client = this.clients.get(sequence.client) ?? this.arrive(sequence.client);
    client.live++;
    client.waiting.push(sequence);
    this.changed(1, sequence);
  }

  /** A preempted request waits again: before the others of its client. */
  putBack(sequence: Sequence): void {
    this.clients.get(sequence.client)?.waiting.unshift(sequence);
    this.changed(1, sequence);
  }

  /** A request stops waiting because it runs or was cancelled; true if it did wait. */
  take(sequence: Sequence): boolean {
    const waiting = this.clients.get(sequence.client)?.waiting ?? [];
    const index = waiting.indexOf(sequence);
    if (index < 0) return false;
    waiting.splice(index, 1);
    this.changed(-1, sequence);
    return true;
  }

  /** A request has finished or was cancelled. */
  forget({ client: name }: Sequence): void {
    const client = this.clients.get(name);
    if (client && --client.live === 0) this.clients.delete(name);
  }

  /** Tokens were computed for a client. */
  charge(name: string, prompt: number, output: number): void {
    const client = this.clients.get(name);
    if (client) client.served += prompt + OUTPUT_WEIGHT * output;
  }

  /** All waiting requests in the order of admission, as long as nothing more is charged. */
  inOrder(): Sequence[] {
    const clients = [...this.clients.values()].filter(({ waiting }) => waiting.length > 0);
    clients.sort((a, b) => a.served - b.served || keyOf(a) - keyOf(b));
    const order = clients.flatMap(({ waiting }) => waiting);
    return [...order.filter(({ background }) => !background), ...order.filter(({ background }) => background)];
  }

  /** A new client starts level with the one that was served least: it has no claim on earlier time. */
  private arrive(name: string): Client {
    const others = [...this.clients.values()].map(({ served }) => served);
    const client: Client = { waiting: [], live: 0, served: others.length > 0 ? Math.min(...others) : 0 };
    this.clients.set(name, client);
    return client;
  }

  private changed(by: 1 | -1, { length, background }: Sequence): void {
    this.count += by;
    if (!background) this.tokenCount += by * length;
  }
}

const keyOf = ({ waiting }: Client): number => waiting[0]?.key ?? 0;
