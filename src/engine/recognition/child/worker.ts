// The loop of a recognition engine: each turn reads a page of one document.

import { SvcError } from "../../../domain/errors.ts";
import type { JobKey } from "../../process/protocol.ts";
import { Turns } from "../../process/turns.ts";
import type { FromRecognizer, PageEvent, PageJob } from "../protocol.ts";
import type { PageReader } from "./page-reader.ts";
import { LONGEST_PAGE_MS, Stopped, TooLong, type Watch } from "./watch.ts";

interface QueuedJob extends PageJob {
  readonly key: JobKey;
}

export class RecognitionWorker {
  private readonly turns = new Turns<QueuedJob>();
  private wake: () => void = () => {};

  constructor(
    private readonly reader: Pick<PageReader, "count" | "read" | "close">,
    private readonly watch: Watch,
    private readonly send: (message: FromRecognizer) => void,
  ) {}

  submit(key: JobKey, job: PageJob): void {
    this.turns.add({ ...job, key });
    this.send({ type: "accepted", key, event: { type: "accepted" } });
    this.wake();
  }

  cancel(key: JobKey): void {
    this.watch.stop(key);
    this.turns.remove(this.turns.find((job) => job.key === key));
  }

  /** Computes for ever. */
  async run(): Promise<never> {
    for (;;) {
      if (this.turns.areOver) await new Promise<void>((resolve) => (this.wake = resolve));
      // Messages that came meanwhile are read here.
      await new Promise(setImmediate);
      await this.step();
    }
  }

  /** Takes one turn. */
  async step(): Promise<void> {
    const job = this.turns.next();
    if (!job) return;
    const { key } = job;
    this.turns.remove(job);
    this.send({ type: "started", keys: [key] });
    this.watch.begin(key);
    try {
      const event = await this.result(job);
      this.send({ type: "events", outputs: [], finished: [{ key, event }] });
    } catch (error) {
      this.refuse(job, error);
    } finally {
      this.watch.end();
    }
  }

  private async result({ document, page }: QueuedJob): Promise<PageEvent> {
    if (!page) return { type: "counted", pages: await this.reader.count(document) };
    const { number, task, isLast } = page;
    const read = await this.reader.read(document, number, task);
    if (isLast) this.reader.close();
    return { type: "page", page: read };
  }

  /** Whoever stopped it hears that it has ended. */
  private refuse({ key, document: { field }, page }: QueuedJob, error: unknown): void {
    if (error instanceof SvcError) {
      const { code, message, details } = error;
      this.send({ type: "rejected", key, code, message, ...(details.param !== undefined && { param: details.param }) });
      return;
    }
    if (error instanceof TooLong) {
      const limit = `${LONGEST_PAGE_MS / 1000} s of computing`;
      const message = `'${field}' must have pages that are read in ${limit}; page ${page?.number ?? 1} takes longer.`;
      this.send({ type: "rejected", key, code: "unprocessable_media", message, param: field });
      return;
    }
    if (error instanceof Stopped) {
      this.send({ type: "rejected", key, code: "request_cancelled", message: "The page is not wanted any more." });
      return;
    }
    this.send({ type: "log", level: "error", text: error instanceof Error ? error.message : String(error) });
    const message = "The page could not be read; the log has the details.";
    this.send({ type: "rejected", key, code: "internal_error", message });
  }
}
