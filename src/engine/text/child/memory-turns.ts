// Decides which prompt may take memory next: clients take turns, and background work comes last.

import { ClientTurns } from "../../process/client-turns.ts";

/** Whose prompt it is. */
export interface Owner {
  readonly client?: string | undefined;
  readonly background?: boolean | undefined;
}

/** A prompt that takes memory. */
export interface Holder extends Owner {
  readonly bytes: number;
}

/** Prompts that wait for memory. */
export class MemoryTurns<Job extends Owner> {
  private readonly urgent = new ClientTurns<Job>();
  private readonly background = new ClientTurns<Job>();

  /** `mostBytes`: the last prompt may exceed it, and clients whose first it is take up to as much once more. */
  constructor(private readonly mostBytes: number) {}

  add(job: Job): void {
    this.turnsOf(job).add(job);
  }

  has(job: Job): boolean {
    return this.turnsOf(job).has(job);
  }

  /** Removes the prompt, if it is here. */
  remove(job: Job): void {
    this.turnsOf(job).remove(job);
  }

  /** Removes and returns the prompt that may take memory while `holders` have theirs. */
  take(holders: Iterable<Holder>): Job | undefined {
    const job = this.next([...holders]);
    if (job) this.remove(job);
    return job;
  }

  private next(holders: readonly Holder[]): Job | undefined {
    const urgent = holders.filter(({ background }) => !background);
    if (this.urgent.peek()) {
      // Background prompts wait for as long as there are others, and must not keep those from their memory.
      const bytes = bytesOf(urgent);
      if (bytes < this.mostBytes) return this.urgent.next();
      // Nor must those of one client keep others from their turn.
      const isFirst = (job: Job) => !urgent.some(({ client }) => client === job.client);
      return bytes < 2 * this.mostBytes ? this.urgent.next(isFirst) : undefined;
    }
    return bytesOf(holders) < this.mostBytes ? this.background.next() : undefined;
  }

  private turnsOf({ background }: Owner): ClientTurns<Job> {
    return background ? this.background : this.urgent;
  }
}

const bytesOf = (holders: readonly Holder[]): number => holders.reduce((total, { bytes }) => total + bytes, 0);
