// Reads pages in processes of its own. A document goes there page by page, in parallel if there are several processes.

import { fieldError } from "../../domain/errors.ts";
import type { RecognitionEvent, RecognizedPage } from "../../domain/recognition.ts";
import { HungError, type Started } from "../process/jobs.ts";
import { LazyEngine, type KnownModel, type LazyEngineOptions } from "../process/lazy-engine.ts";
import type { RecognitionJob, RecognitionPort } from "./port.ts";
import { numberFor, type PageEvent, type PageJob, type RecognizerOptions } from "./protocol.ts";

type RecognitionEngineOptions = LazyEngineOptions<RecognizerOptions, KnownModel>;

/**
 * Milliseconds for which a page may be computed after its abort: the child checks for aborts while it reads lines, but
 * not while it lays out or draws a page.
 */
const ABORT_GRACE_MS = 200;
/**
 * Milliseconds. The child gives no sign of life while it decodes a file or draws a page. That takes seconds, but some
 * pages are made to be drawn forever.
 */
const LONGEST_SILENCE_MS = 15_000;

export class RecognitionEngine
  extends LazyEngine<RecognizerOptions, KnownModel, undefined, PageJob, PageEvent>
  implements RecognitionPort
{
  private documents = 0;

  constructor(options: RecognitionEngineOptions) {
    super("recognition", { ...options, abortGraceMs: ABORT_GRACE_MS, longestSilenceMs: LONGEST_SILENCE_MS });
  }

  /** How many pages are read in parallel. */
  get parallel(): number {
    return this.options.processes ?? 1;
  }

  async *run({ work, client }: RecognitionJob, signal: AbortSignal): AsyncGenerator<RecognitionEvent, void, void> {
    const { task, pages, maxPages, ...file } = work;
    const wanted = { maxPages, ...(pages && { pages }) };
    const job = { document: { id: ++this.documents, ...file }, task, client };
    const { picture: _first, ...later } = task;
    const left = new AbortController();
    const ended = AbortSignal.any([signal, left.signal]);
    try {
      const opening = this.events({ ...job, wanted, readers: this.parallel }, ended);
      const counted = yield* untilCounted(opening);
      const numbers = counted.wanted;
      const begun: Promise<RecognizedPage>[] = [];
      const begin = () => {
        const at = begun.length;
        const [page, isLast] = [numbers[at], at >= numbers.length - this.parallel];
        if (page === undefined) return;
        const result = pageOf(at === 0 ? opening : this.events({ ...job, task: later, page, isLast }, ended));
        // It is awaited later, or never.
        result.catch(() => {});
        begun.push(result);
      };
      for (let count = 0; count < this.parallel; count++) begin();
      // Each page that is done begins another, which is added at the end.
      for (const result of begun) {
        const page = await result;
        begin();
        yield { type: "page", page, of: numbers.length };
      }
      yield { type: "result", pageCount: counted.pages };
    } finally {
      left.abort();
    }
  }

  private async *events(job: PageJob, signal: AbortSignal): AsyncGenerator<PageEvent | Started, void, void> {
    let reading = "page" in job ? job.page : undefined;
    try {
      for await (const event of this.runJob(job, signal)) {
        if (event.type === "counted") [reading] = event.wanted;
        yield event;
      }
    } catch (error) {
      if (!(error instanceof HungError)) throw error;
      const what = reading === undefined ? "the document" : `page ${numberFor(job.document, reading)}`;
      const sentence = `must be made of steps of at most ${LONGEST_SILENCE_MS / 1000} s; ${what} has one that takes longer`;
      throw fieldError("unprocessable_media", job.document.field, sentence);
    }
  }
}

type Counted = Extract<PageEvent, { readonly type: "counted" }>;

/** Passes on the events before the pages are counted; leaves the rest unread. */
async function* untilCounted(
  events: AsyncGenerator<PageEvent | Started, void, void>,
): AsyncGenerator<Exclude<PageEvent | Started, Counted | { readonly type: "page" }>, Counted, void> {
  for (;;) {
    const { value, done } = await events.next();
    if (done || value.type === "page") throw new Error("a document whose pages were not counted");
    if (value.type === "counted") return value;
    yield value;
  }
}

/** Returns the page with which these events end. */
async function pageOf(events: AsyncIterable<PageEvent | Started>): Promise<RecognizedPage> {
  let page: RecognizedPage | undefined;
  for await (const event of events) if (event.type === "page") page = event.page;
  if (!page) throw new Error("a page without a result");
  return page;
}
