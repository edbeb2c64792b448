// The loop of a recognition engine: each turn reads a page of one document.

import { fieldError, SvcError } from "../../../domain/errors.ts";
import { systemErrorCode } from "../../../domain/system-error-code.ts";
import type { JobKey } from "../../process/protocol.ts";
import { sendRefusal } from "../../process/refusal.ts";
import { ClientTurns } from "../../process/client-turns.ts";
import {
  numberFor,
  type FromRecognizer,
  type NextPageJob,
  type OpeningJob,
  type PageEvent,
  type PageJob,
} from "../protocol.ts";
import type { PageReader } from "./page-reader.ts";
import { UnusableData } from "./unusable-data.ts";
import { wantedPages } from "./wanted-pages.ts";
import { LONGEST_PAGE_MS, Stopped, TooLong, type Watch } from "./watch.ts";

type QueuedJob = PageJob & { readonly key: JobKey };

export class RecognitionLoop {
  private readonly turns = new ClientTurns<QueuedJob>();

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

  /** Computes until the process ends. */
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
    this.watch.begin(key, LONGEST_PAGE_MS[job.task.text?.engine ?? "tesseract"]);
    let reading: (NextPageJob & { readonly key: JobKey }) | undefined;
    try {
      reading = "wanted" in job ? await this.opened(job) : job;
      const event = await this.read(reading);
      this.send({ type: "events", outputs: [], finished: [{ key, event }] });
    } catch (error) {
      // Usually, no other page of the document follows.
      this.reader.close();
      this.refuse(job, reading?.page, error);
    } finally {
      this.watch.end();
    }
  }

  /** Counts a document's pages. Returns the first wanted page's job. */
  private async opened({ key, document, task, wanted, readers }: QueuedJob & OpeningJob) {
    const pages = await this.reader.count(document);
    const all = wantedPages(wanted, document, pages);
    const event = { type: "counted", pages, wanted: all } as const;
    this.send({ type: "events", outputs: [{ key, events: [event] }], finished: [] });
    return { key, document, task, page: all[0], isLast: all.length <= readers };
  }

  private async read({ document, task, page, isLast }: NextPageJob): Promise<PageEvent> {
    const read = await this.reader.read(document, page, task);
    if (isLast) this.reader.close();
    return { type: "page", page: read };
  }

  /** Reports the error of a job, a stopped one's too: the front process waits for the end of an aborted job. */
  private refuse({ key, document }: QueuedJob, page: number | undefined, error: unknown): void {
    if (error instanceof UnusableData) this.send({ type: "log", level: "error", text: error.message });
    sendRefusal(
      this.send,
      key,
      known(error, document.field, numberFor(document, page ?? 1)),
      "The page could not be read; the log has the details.",
    );
  }
}

/** Translates the errors that end a page on purpose into those that clients receive. */
function known(error: unknown, field: string, page: number): unknown {
  if (error instanceof Stopped) return new SvcError("request_cancelled", "The page is not wanted any more.");
  if (error instanceof UnusableData) {
    return new SvcError(
      "engine_unavailable",
      "The data for text recognition cannot be used; the server's log names it.",
    );
  }
  if (systemErrorCode(error) === "ENOENT") return fieldError("not_found", field, "names a file that was deleted");
  if (!(error instanceof TooLong)) return error;
  const limit = `${error.limitMs / 1000} s of computing`;
  const sentence = `must have pages that are read in ${limit}; page ${page} takes longer`;
  return fieldError("unprocessable_media", field, sentence);
}
