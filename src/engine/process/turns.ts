// Whose turn it is: clients take turns, and so do the jobs of each.

export class Turns<Job extends { readonly client?: string }> {
  private jobs: readonly Job[] = [];

  get isEmpty(): boolean {
    return this.jobs.length === 0;
  }

  add(job: Job): void {
    this.jobs = [...this.jobs, job];
  }

  has(job: Job): boolean {
    return this.jobs.includes(job);
  }

  /** Drops the jobs for which this is true. */
  remove(isGone: (job: Job) => boolean): void {
    this.jobs = this.jobs.filter((job) => !isGone(job));
  }

  /** The job whose turn it is. It goes behind all others of its client, and these behind all other clients'. */
  next(): Job | undefined {
    const [job, ...rest] = this.jobs;
    if (!job) return undefined;
    const isSame = ({ client }: Job) => client !== undefined && client === job.client;
    this.jobs = [...rest.filter((other) => !isSame(other)), ...rest.filter(isSame), job];
    return job;
  }
}
