// Whose turn it is: that of the client whose last turn is the longest ago, and of this client's jobs that of the one that came
// first. A client that comes while others wait for their second turn has its first one before them.

import { nextTurn } from "../../domain/next-turn.ts";

/** Clients whose turns are remembered: clients make up names. */
const MOST_REMEMBERED = 256;

interface Turn {
  readonly client?: string | undefined;
  /** Its turns pass to the others. */
  isHeld?: boolean;
}

export class Turns<Job extends Turn> {
  private jobs: readonly Job[] = [];
  /** Clients in the order of their last turns, the latest last. */
  private served: readonly string[] = [];
  private wake: () => void = () => {};

  add(job: Job): void {
    this.jobs = [...this.jobs, job];
    this.wake();
  }

  /** Passes the job's turns to the others until it is held no longer. */
  hold(job: Job | undefined, held: boolean): void {
    if (job) job.isHeld = held;
    this.wake();
  }

  /** Has turns taken for ever, each by a call of `step`, as long as there is a job for it. */
  async run(step: () => Promise<void>): Promise<never> {
    for (;;) {
      if (this.areOver) await new Promise<void>((resolve) => (this.wake = resolve));
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

  /** Drops the job, if it is here. */
  remove(job: Job | undefined): void {
    this.jobs = this.jobs.filter((other) => other !== job);
  }

  /** The job whose turn it is. It goes behind all others. */
  next(): Job | undefined {
    const waiting = this.jobs.filter(({ isHeld }) => !isHeld);
    const since = ({ client = "" }: Job) => this.served.indexOf(client);
    const longest = Math.min(...waiting.map(since));
    const job = waiting.find((one) => since(one) === longest);
    if (!job) return undefined;
    const { client = "" } = job;
    this.served = [...this.served.filter((other) => other !== client), client].slice(-MOST_REMEMBERED);
    this.jobs = [...this.jobs.filter((other) => other !== job), job];
    return job;
  }

  /** Puts a job back whose turn ended before it did: it is the next one of its client. */
  putBack(job: Job): void {
    const rest = this.jobs.filter((other) => other !== job);
    const isOwn = (other: Job) => isSameClient(other, job);
    this.jobs = [...rest.filter((other) => !isOwn(other)), job, ...rest.filter(isOwn)];
  }

  /** Whether there is nobody to take a turn. */
  private get areOver(): boolean {
    return this.jobs.every(({ isHeld }) => isHeld === true);
  }
}

/**
 * Resolves when messages were read that came before. After one turn of the event loop they are not, where the caller went on
 * from a file or a timer: immediate callbacks come before what is to be read.
 */
export async function messagesRead(): Promise<void> {
  await nextTurn();
  await nextTurn();
}

/** Whether two jobs are of the same client: nobody's are of nobody else. */
export const isSameClient = (one: Turn, other: Turn): boolean =>
  one.client !== undefined && one.client === other.client;
