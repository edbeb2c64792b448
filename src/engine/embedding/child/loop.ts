// The loop of an embedding engine: puts the inputs of all requests into batches and the results into answers.

import type { Embedder } from "../../../../ffi/llama/embedder.ts";
import type { EmbeddingResult } from "../../../domain/embedding.ts";
import type { JobKey } from "../../process/protocol.ts";
import { sendRefusal } from "../../process/refusal.ts";
import { messagesRead } from "../../process/client-turns.ts";
import type { EmbeddingJob } from "../port.ts";
import type { EmbedderOptions, FromEmbedder } from "../protocol.ts";
import { BatchQueue, QueuedJob, type BatchItem } from "./batch-queue.ts";
import { InputReader } from "./inputs.ts";
import { TextJobs } from "./text-jobs.ts";

/**
 * Most tokens in a batch, unless one input has more: enough to keep the kernels busy, and not more, because attention
 * compares each token of a batch with all the others, including those of other inputs.
 */
export const TOKENS_AT_ONCE = 256;

/** How long to wait for the prompt threads before messages are read again, when there is nothing else to do. */
const TEXT_WAIT_MS = 1;

export class EmbeddingLoop {
  private readonly queue: BatchQueue;
  private readonly texts: TextJobs;
  private readonly reader: InputReader;
  /** What the results of this model have in common. */
  private readonly form: Pick<EmbeddingResult, "dimensions" | "probabilities">;
  private wake: () => void = () => {};

  constructor(
    private readonly embedder: Embedder,
    { maxTokens }: Pick<EmbedderOptions, "maxTokens">,
    private readonly send: (message: FromEmbedder) => void,
  ) {
    const { dimensions, probabilities, sequences } = embedder.model();
    this.form = { dimensions, ...(probabilities && { probabilities }) };
    this.queue = new BatchQueue(TOKENS_AT_ONCE, sequences);
    this.texts = new TextJobs(embedder);
    this.reader = new InputReader(embedder, this.texts, maxTokens);
  }

  submit(key: JobKey, job: EmbeddingJob): void {
    void this.receive(key, job);
    this.wake();
  }

  private async receive(key: JobKey, { work, client, background }: EmbeddingJob): Promise<void> {
    try {
      const { inputs, truncated } = await this.reader.read(work, { key, client });
      this.queue.add(new QueuedJob(key, inputs, this.form.dimensions, truncated, client, background));
      this.send({ type: "accepted", key, event: { type: "accepted" } });
      this.wake();
    } catch (error) {
      this.reject(key, error);
    }
  }

  cancel(key: JobKey): void {
    this.texts.cancel(key);
    this.queue.remove(key);
  }

  /** Computes until the process ends. */
  async run(): Promise<never> {
    for (;;) {
      // Requests that these messages bring join the next batch, and a request whose texts were taken up goes on.
      await messagesRead();
      if (this.queue.isEmpty && !this.texts.isBusy) {
        await new Promise<void>((resolve) => (this.wake = resolve));
        await messagesRead();
      }
      this.step();
    }
  }

  /** Takes up the texts that have been tokenized, and computes one batch. */
  step(): void {
    this.texts.collect(this.queue.isEmpty ? TEXT_WAIT_MS : 0);
    const batch = this.queue.next();
    const jobs = new Set(batch.map(({ job }) => job));
    const [first] = jobs;
    if (!first) return;
    this.announce([...jobs].filter((job) => !job.started));
    try {
      const inputs = batch.map(({ tokens }) => tokens);
      const numbers = this.embedder.embed(inputs, jobs.size === 1 ? first.key : 0);
      // The `cancel` message removes the stopped request if it is in this batch; the other inputs are computed again.
      if (numbers) this.finish(batch, numbers);
      else this.queue.putBack(batch);
    } catch (error) {
      if (jobs.size > 1) {
        // Only the request whose input is at fault may fail.
        for (const job of jobs) job.isAlone = true;
        return this.queue.putBack(batch);
      }
      this.queue.remove(first.key);
      this.reject(first.key, error);
    }
  }

  private announce(jobs: readonly QueuedJob[]): void {
    if (jobs.length === 0) return;
    for (const job of jobs) job.started = true;
    this.send({ type: "started", keys: jobs.map(({ key }) => key) });
  }

  private finish(batch: readonly BatchItem[], numbers: Float32Array): void {
    const { dimensions } = this.form;
    const finished = batch.flatMap(({ job, index }, at) => {
      const own = numbers.subarray(at * dimensions, (at + 1) * dimensions);
      if (!job.keep(index, own)) return [];
      const { key, values, tokens, truncated } = job;
      const result = { ...this.form, values, tokens, truncated };
      return [{ key, event: { type: "result", result } as const }];
    });
    // One message for all, because a message costs more than its content.
    if (finished.length > 0) this.send({ type: "events", outputs: [], finished });
  }

  private reject(key: number, error: unknown): void {
    sendRefusal(this.send, key, error, "The model could not compute this request; the log has the details.");
  }
}
