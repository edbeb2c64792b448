// Whose turn it is: clients take turns, and so do the jobs of each.

interface Turn {
  readonly client?: string;
  /** Its turns pass to the others. */
  isHeld?: boolean;
}

export class Turns<Job extends Turn> {
  private jobs: readonly Job[] = [];
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
      // Messages that came meanwhile are read here.
      await new Promise(setImmediate);
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

  /** The job whose turn it is. It goes behind all others of its client, and these behind all other clients'. */
  next(): Job | undefined {
    const job = this.jobs.find(({ isHeld }) => !isHeld);
    if (!job) return undefined;
    const rest = this.jobs.filter((other) => other !== job);
    const isSame = ({ client }: Job) => client !== undefined && client === job.client;
    this.jobs = [...rest.filter((other) => !isSame(other)), ...rest.filter(isSame), job];
    return job;
  }

  /** Whether there is nobody to take a turn. */
  private get areOver(): boolean {
    return this.jobs.every(({ isHeld }) => isHeld === true);
  }
}
