// The loop of a recognition engine: each turn reads a page of one document.

import { SvcError } from "../../../domain/errors.ts";
import type { JobKey } from "../../process/protocol.ts";
import { refusalOf } from "../../process/refusal.ts";
import { Turns } from "../../process/turns.ts";
import type { FromRecognizer, PageEvent, PageJob } from "../protocol.ts";
import type { PageReader } from "./page-reader.ts";
import { LanguageDataError } from "./tesseract.ts";
import { LONGEST_PAGE_MS, Stopped, TooLong, type Watch } from "./watch.ts";

interface QueuedJob extends PageJob {
  readonly key: JobKey;
}

export class RecognitionWorker {
  private readonly turns = new Turns<QueuedJob>();

  constructor(
    private readonly reader: Pick<PageReader, "count" | "read" | "close">,
    private readonly watch: Watch,
    private readonly send: (message: FromRecognizer) => void,
  ) {}

  submit(key: JobKey, job: PageJob): void {
    this.turns.add({ ...job, key });
    this.send({ type: "accepted", key, event: { type: "accepted" } });
  }

  cancel(key: JobKey): void {
    this.watch.stop(key);
    this.turns.remove(this.turns.find((job) => job.key === key));
  }

  /** Computes for ever. */
  run(): Promise<never> {
    return this.turns.run(() => this.step());
  }

  /** Takes one turn. */
  async step(): Promise<void> {
    const job = this.turns.next();
    if (!job) return;
    const { key } = job;
    this.turns.remove(job);
    this.send({ type: "started", keys: [key] });
    this.watch.begin(key, LONGEST_PAGE_MS[job.page?.task.text?.engine ?? "tesseract"]);
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
    if (error instanceof LanguageDataError) this.send({ type: "log", level: "error", text: error.message });
    const message = "The page could not be read; the log has the details.";
    for (const refusal of refusalOf(key, known(error, field, page?.number ?? 1), message)) this.send(refusal);
  }
}

/** What ended a page on purpose, as clients are to hear of it. */
function known(error: unknown, field: string, page: number): unknown {
  if (error instanceof Stopped) return new SvcError("request_cancelled", "The page is not wanted any more.");
  if (error instanceof LanguageDataError) {
    return new SvcError(
      "engine_unavailable",
      "The data for text recognition cannot be used; the server's log names it.",
    );
  }
  if (!(error instanceof TooLong)) return error;
  const limit = `${error.limitMs / 1000} s of computing`;
  const message = `'${field}' must have pages that are read in ${limit}; page ${page} takes longer.`;
  return new SvcError("unprocessable_media", message, { param: field });
}
