// Which inputs are computed together: clients take turns, and so do the requests of each, short inputs first. What nobody
// waits for takes the room that others leave.

/** The inputs of one request, as token ids, and what is known of their results. */
export class QueuedJob {
  /** Numbers of the inputs that wait, the longest first: they are taken from the end. */
  readonly waiting: number[];
  readonly values: Float32Array;
  started = false;
  private left: number;

  /** `client`: whose request it is; absent: nobody's in particular. `background`: nobody waits for it. */
  constructor(
    readonly key: number,
    readonly inputs: readonly Int32Array[],
    private readonly dimensions: number,
    readonly truncated: number,
    readonly client?: string | undefined,
    readonly background = false,
  ) {
    this.values = new Float32Array(inputs.length * dimensions);
    this.left = inputs.length;
    const length = (index: number) => inputs[index]?.length ?? 0;
    this.waiting = inputs.map((_, index) => index).sort((a, b) => length(b) - length(a));
  }

  get tokens(): number {
    return this.inputs.reduce((sum, { length }) => sum + length, 0);
  }

  /** Keeps the numbers of an input; true when they were the last ones. */
  keep(index: number, numbers: Float32Array): boolean {
    this.values.set(numbers, index * this.dimensions);
    return --this.left === 0;
  }
}

export interface BatchItem {
  readonly job: QueuedJob;
  readonly index: number;
  readonly tokens: Int32Array;
}

export class BatchQueue {
  private jobs: QueuedJob[] = [];

  /** A batch has at most `tokens`, unless its only input has more, and at most `inputs`. */
  constructor(
    private readonly tokens: number,
    private readonly inputs: number,
  ) {}

  get isEmpty(): boolean {
    return this.jobs.length === 0;
  }

  add(job: QueuedJob): void {
    this.jobs.push(job);
  }

  /** Drops what a request still waits for. */
  remove(key: number): void {
    this.jobs = this.jobs.filter((job) => job.key !== key);
  }

  /** The next batch; empty when nothing waits. A request that was served goes behind the others of its client. */
  next(): BatchItem[] {
    const batch: BatchItem[] = [];
    this.fill(
      batch,
      this.jobs.filter(({ background }) => !background),
    );
    this.fill(
      batch,
      this.jobs.filter(({ background }) => background),
    );
    this.putBehind(new Set(batch.map(({ job }) => job)));
    return batch;
  }

  private fill(batch: BatchItem[], jobs: readonly QueuedJob[]): void {
    let room = batch.reduce((left, { tokens }) => left - tokens.length, this.tokens);
    for (let took = true; took && batch.length < this.inputs;) {
      took = false;
      const served = new Set<string>();
      for (const job of jobs) {
        if (job.client !== undefined && served.has(job.client)) continue;
        const index = job.waiting.at(-1);
        const tokens = index === undefined ? undefined : job.inputs[index];
        if (index === undefined || !tokens || batch.length === this.inputs) continue;
        if (tokens.length > room && batch.length > 0) continue;
        job.waiting.pop();
        batch.push({ job, index, tokens });
        room -= tokens.length;
        took = true;
        if (job.client !== undefined) served.add(job.client);
      }
    }
  }

  /** Clients that were not served come first, of the others the requests that were not. */
  private putBehind(served: ReadonlySet<QueuedJob>): void {
    const clients = new Set([...served].flatMap(({ client }) => client ?? []));
    const rank = (job: QueuedJob) =>
      served.has(job) ? 2 : job.client !== undefined && clients.has(job.client) ? 1 : 0;
    this.jobs = this.jobs.filter(({ waiting }) => waiting.length > 0).toSorted((a, b) => rank(a) - rank(b));
  }

  /** Takes back what was not computed. */
  putBack(batch: readonly BatchItem[]): void {
    for (const { job, index } of batch.toReversed()) {
      job.waiting.push(index);
      if (!this.jobs.includes(job)) this.jobs.unshift(job);
    }
  }
}
