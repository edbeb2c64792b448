// Decides whose turn it is: that of the client whose last turn is longest ago, with this client's oldest job. A new
// client has its first turn before others have their second.

import { nextTurn } from "../../domain/next-turn.ts";

/** Number of clients whose turns are remembered; limited because clients make up names. */
const MOST_REMEMBERED = 256;

interface Turn {
  readonly client?: string | undefined;
  /** While true, its turns pass to the other jobs. */
  isHeld?: boolean;
}

export class ClientTurns<Job extends Turn> {
  private jobs: readonly Job[] = [];
  /** Clients in the order of their last turns, latest last. */
  private served: readonly string[] = [];
  private wake: () => void = () => {};

  add(job: Job): void {
    this.jobs = [...this.jobs, job];
    this.wake();
  }

  /** While `held`, the job's turns pass to the others. */
  hold(job: Job | undefined, held: boolean): void {
    if (job) job.isHeld = held;
    this.wake();
  }

  /** Calls `step` once for each turn while there is a job to run; never returns. */
  async run(step: () => Promise<void>): Promise<never> {
    for (;;) {
      const areOver = this.jobs.every(({ isHeld }) => isHeld);
      if (areOver) await new Promise<void>((resolve) => (this.wake = resolve));
      await messagesRead();
      await step();
    }
  }

  has(job: Job): boolean {
    return this.jobs.includes(job);
  }

  find(isWanted: (job: Job) => boolean): Job | undefined {
    return this.jobs.find(isWanted);
  }

  /** Removes the job, if it is here. */
  remove(job: Job | undefined): void {
    this.jobs = this.jobs.filter((other) => other !== job);
  }

  /** Returns the job whose turn it is, of those that `may` have it. */
  peek(may: (job: Job) => boolean = () => true): Job | undefined {
    const waiting = this.jobs.filter((job) => !job.isHeld && may(job));
    const since = ({ client = "" }: Job) => this.served.indexOf(client);
    const longest = Math.min(...waiting.map(since));
    return waiting.find((one) => since(one) === longest);
  }

  /** Returns the job whose turn it is, of those that `may` have it, and moves it behind all others. */
  next(may?: (job: Job) => boolean): Job | undefined {
    const job = this.peek(may);
    if (!job) return undefined;
    const { client = "" } = job;
    this.served = [...this.served.filter((other) => other !== client), client].slice(-MOST_REMEMBERED);
    this.jobs = [...this.jobs.filter((other) => other !== job), job];
    return job;
  }

  /** Puts back a job that its turn did not finish: it is the next one of its client. */
  putBack(job: Job): void {
    const rest = this.jobs.filter((other) => other !== job);
    const isOwn = (other: Job) => isSameClient(other, job);
    this.jobs = [...rest.filter((other) => !isOwn(other)), job, ...rest.filter(isOwn)];
  }
}

/**
 * Resolves when the messages that arrived before have been read. One turn of the event loop is not enough if the caller
 * continues from a file or a timer: immediate callbacks run before pending input is read.
 */
export async function messagesRead(): Promise<void> {
  await nextTurn();
  await nextTurn();
}

/** Returns whether two jobs belong to the same client; a job without a client shares it with no other. */
export const isSameClient = (one: Turn, other: Turn): boolean =>
  one.client !== undefined && one.client === other.client;
