// Chooses which inputs are computed together: clients take turns, and so do the requests of each client, short inputs
// first. Background requests, which nobody waits for, fill the capacity that the others leave.

/** The inputs of one request, as token ids, and the results computed so far. */
export class QueuedJob {
  /** Indexes of the waiting inputs, longest first: inputs are taken from the end. */
  readonly waiting: number[];
  readonly values: Float32Array;
  started = false;
  /** Whether its inputs must not be computed together with those of other requests. */
  isAlone = false;
  private left: number;

  /** `client`: whose request this is; undefined: no particular client's. `background`: nobody waits for the result. */
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

  /** Stores the result of an input. Returns true when it was the last one missing. */
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

  /** A batch has at most `inputs` inputs and `tokens` tokens; a larger input makes a batch of its own. */
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

  /** Drops the waiting inputs of a request. */
  remove(key: number): void {
    this.jobs = this.jobs.filter((job) => job.key !== key);
  }

  /** Returns the next batch, empty when nothing waits. Requests served now go behind the others of their client. */
  next(): BatchItem[] {
    const batch: BatchItem[] = [];
    for (const background of [false, true]) {
      const jobs = this.jobs.filter((job) => job.background === background);
      this.fill(batch, jobs);
    }
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
        if (batch.some((item) => item.job !== job && (item.job.isAlone || job.isAlone))) continue;
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

  /** Sorts requests: first those of clients not served now, then the unserved requests of the others, then the rest. */
  private putBehind(served: ReadonlySet<QueuedJob>): void {
    const clients = new Set([...served].flatMap(({ client }) => client ?? []));
    const rank = (job: QueuedJob) =>
      served.has(job) ? 2 : job.client !== undefined && clients.has(job.client) ? 1 : 0;
    this.jobs = this.jobs.filter(({ waiting }) => waiting.length > 0).toSorted((a, b) => rank(a) - rank(b));
  }

  /** Puts back a batch that was not computed. */
  putBack(batch: readonly BatchItem[]): void {
    for (const { job, index } of batch.toReversed()) {
      job.waiting.push(index);
      if (!this.jobs.includes(job)) this.jobs.unshift(job);
    }
  }
}
