// Decides which request is admitted next. Clients take turns by how many tokens they have been served so far (as in
// Sheng et al., "Fairness in Serving Large Language Models", 2024), so that many requests of one client do not hold up
// a single request of another. Within a client: first come, first served. Background requests of all clients come last.

import type { Sequence } from "../sequence.ts";

interface Client {
  readonly waiting: Sequence[];
  /** Requests that wait or run. */
  live: number;
  /** Weighted tokens served, comparable with those of the other clients. */
  served: number;
}

/** A sampled token counts as this many prompt tokens: each takes a separate step, while prompt tokens share a step. */
const OUTPUT_WEIGHT = 2;

export class FairQueue {
  /** How many requests wait. */
  size = 0;
  /** Tokens of the waiting requests, without background requests. */
  tokens = 0;
  private readonly clients = new Map<string, Client>();
  /** `served` of the client whose request left the queue last, by whether that request was in the background. */
  private readonly lastLevels = new Map<boolean, number>();

  /** Adds a new request. */
  add(sequence: Sequence): void {
    const client = this.clients.getOrInsert(sequence.client, { waiting: [], live: 0, served: 0 });
    this.level(client, sequence);
    client.live++;
    client.waiting.push(sequence);
    this.changed(1, sequence);
  }

  /** Queues a preempted request again, before the others of its client. */
  putBack(sequence: Sequence): void {
    const client = this.clients.get(sequence.client);
    if (!client) return;
    this.level(client, sequence);
    client.waiting.unshift(sequence);
    this.changed(1, sequence);
  }

  /** Removes a request that now runs or was cancelled; returns whether it was waiting. */
  take(sequence: Sequence): boolean {
    const client = this.clients.get(sequence.client);
    const index = client?.waiting.indexOf(sequence) ?? -1;
    if (!client || index < 0) return false;
    client.waiting.splice(index, 1);
    this.lastLevels.set(sequence.background, client.served);
    this.changed(-1, sequence);
    return true;
  }

  /** Forgets a request that has finished or was cancelled. */
  forget({ client: name }: Sequence): void {
    const client = this.clients.get(name);
    if (client && --client.live === 0) this.clients.delete(name);
  }

  /** Charges a client for tokens that were computed for it. */
  charge(name: string, prompt: number, output: number): void {
    const client = this.clients.get(name);
    if (client) client.served += prompt + OUTPUT_WEIGHT * output;
  }

  /** Returns all waiting requests in the order of admission, valid until a client is charged. */
  inOrder(): Sequence[] {
    const clients = [...this.clients.values()].filter(({ waiting }) => waiting.length > 0);
    clients.sort((a, b) => a.served - b.served || keyOf(a) - keyOf(b));
    const order = clients.flatMap(({ waiting }) => waiting);
    return [...order.filter(({ background }) => !background), ...order.filter(({ background }) => background)];
  }

  /**
   * Makes a client equal to the waiting one that was served least: while it had nothing to wait for, it has no claim to
   * the time of others. Requests in the background wait only for each other, and so do the rest.
   */
  private level(client: Client, { background }: Sequence): void {
    const waits = ({ waiting }: Client) => waiting.some((one) => one.background === background);
    if (waits(client)) return;
    const served = [...this.clients.values()].filter(waits).map((other) => other.served);
    const level = served.length > 0 ? Math.min(...served) : (this.lastLevels.get(background) ?? 0);
    client.served = Math.max(client.served, level);
  }

  private changed(by: 1 | -1, { length, background }: Sequence): void {
    this.size += by;
    if (!background) this.tokens += by * length;
  }
}

const keyOf = ({ waiting }: Client): number => waiting[0]?.key ?? 0;
