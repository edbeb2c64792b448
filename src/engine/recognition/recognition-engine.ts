// A reader of pages in processes of its own. A document goes there page by page, several at once where there are as many.

import { SvcError } from "../../domain/errors.ts";
import type { RecognitionEvent, RecognitionWork, RecognizedPage } from "../../domain/recognition.ts";
import { HungError, type Started } from "../process/jobs.ts";
import { LazyEngine, type LazyEngineOptions } from "../process/lazy-engine.ts";
import type { RecognitionJob, RecognitionPort, RecognitionStatus } from "./port.ts";
import type { PageEvent, PageJob, RecognizerModel, RecognizerOptions } from "./protocol.ts";

interface KnownModel {
  readonly id: string;
  readonly created: number;
}

export interface RecognitionEngineOptions extends LazyEngineOptions<RecognizerOptions, KnownModel> {
  /** How many threads want each core, 1 at least; default: 1. */
  readonly crowding?: () => number;
}

/**
 * How long a page may go on that nobody waits for: WebAssembly looks for aborts while it reads lines, and not while it lays
 * out a page or draws one.
 */
const ABORT_GRACE_MS = 200;
/** WebAssembly gives no sign of life while it decodes a file, or draws a page. That takes seconds; there are pages made to be drawn for ever. */
const LONGEST_SILENCE_MS = 15_000;

export class RecognitionEngine
  extends LazyEngine<RecognizerOptions, KnownModel, RecognizerModel, PageJob, PageEvent>
  implements RecognitionPort
{
  private documents = 0;

  constructor(options: RecognitionEngineOptions) {
    const { crowding = () => 1 } = options;
    super("recognition", options, { abortGraceMs: ABORT_GRACE_MS, longestSilenceMs: LONGEST_SILENCE_MS, crowding });
  }

  status(): RecognitionStatus {
    const { id: modelId, created } = this.options.model;
    return { ...this.supervisor.status(), modelId, created };
  }

  async *run({ work, client }: RecognitionJob, signal: AbortSignal): AsyncGenerator<RecognitionEvent, void, void> {
    const { path, field, task } = work;
    const document = { id: ++this.documents, path, field };
    const job = { document, ...(client !== undefined && { client }) };
    let pageCount = 0;
    for await (const event of this.events(job, signal)) {
      if (event.type === "counted") pageCount = event.pages;
      else if (event.type !== "page") yield event;
    }
    const wanted = wantedPages(work, pageCount);
    const { processes = 1 } = this.options;
    const read = (number: number, ended: AbortSignal) => {
      // Whichever process gets one of the last keeps the document open for nobody.
      const isLast = wanted.indexOf(number) >= wanted.length - processes;
      return this.page({ ...job, page: { number, task, isLast } }, ended);
    };
    for await (const page of inOrder(wanted, processes, read, signal)) {
      yield { type: "page", page, of: wanted.length };
    }
    yield { type: "result", pageCount };
  }

  private async page(job: PageJob, signal: AbortSignal): Promise<RecognizedPage> {
    let page: RecognizedPage | undefined;
    for await (const event of this.events(job, signal)) if (event.type === "page") page = event.page;
    if (!page) throw new Error("a page without a result");
    return page;
  }

  private async *events(job: PageJob, signal: AbortSignal): AsyncGenerator<PageEvent | Started, void, void> {
    try {
      yield* this.supervisor.run(job, signal);
    } catch (error) {
      if (!(error instanceof HungError)) throw error;
      const { document, page } = job;
      const param = document.field;
      const what = page ? `page ${page.number}` : "the document";
      const message = `'${param}' must be made of steps of at most ${LONGEST_SILENCE_MS / 1000} s; ${what} has one that takes longer.`;
      throw new SvcError("unprocessable_media", message, { param });
    }
  }
}

/**
 * Has `work` done with each item, with so many at once, and tells the results in the items' order. Throws what `work` throws,
 * when its turn comes; what is under way then, or when nobody wants the rest, is aborted.
 */
async function* inOrder<Item, Result>(
  items: readonly Item[],
  count: number,
  work: (item: Item, signal: AbortSignal) => Promise<Result>,
  signal: AbortSignal,
): AsyncGenerator<Result, void, void> {
  const left = new AbortController();
  const ended = AbortSignal.any([signal, left.signal]);
  const begun: Promise<Result>[] = [];
  const begin = (item: Item | undefined) => {
    if (item === undefined) return;
    const result = work(item, ended);
    // It is looked at later, or never.
    result.catch(() => {});
    begun.push(result);
  };
  try {
    for (const item of items.slice(0, count)) begin(item);
    for (let at = 0; at < items.length; at++) {
      const result = await begun[at];
      begin(items[at + count]);
      if (result !== undefined) yield result;
    }
  } finally {
    left.abort();
  }
}

/** In their order, each once. Throws SvcError about pages that are not there, and too many. */
function wantedPages({ pages = [{ first: 1 }], maxPages }: RecognitionWork, count: number): readonly number[] {
  const beyond = pages.map(({ first, last = first }) => Math.max(first, last)).find((number) => number > count);
  if (beyond !== undefined) {
    const there = count === 1 ? "the document has one page" : `the document has ${count} pages`;
    const message = `'pages' must name pages that are there: ${there}; got ${beyond}.`;
    throw new SvcError("invalid_value", message, { param: "pages" });
  }
  const isWanted = (number: number) => pages.some(({ first, last = count }) => first <= number && number <= last);
  const wanted = Array.from({ length: count }, (_, at) => at + 1).filter(isWanted);
  if (wanted.length <= maxPages) return wanted;
  const message = `'max_pages' is ${maxPages}; got a document of ${wanted.length} pages. 'pages' chooses some of them.`;
  throw new SvcError("unprocessable_media", message, { param: "max_pages" });
}
