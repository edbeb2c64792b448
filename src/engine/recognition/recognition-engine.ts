// A reader of pages in a process of its own. A document goes there page by page.

import { SvcError } from "../../domain/errors.ts";
import type { RecognitionEvent, RecognitionWork } from "../../domain/recognition.ts";
import { LazyEngine, type LazyEngineOptions } from "../process/lazy-engine.ts";
import type { RecognitionJob, RecognitionPort, RecognitionStatus } from "./port.ts";
import type { PageEvent, PageJob, RecognizerModel, RecognizerOptions } from "./protocol.ts";

interface KnownModel {
  readonly id: string;
  readonly created: number;
}

export type RecognitionEngineOptions = LazyEngineOptions<RecognizerOptions, KnownModel>;

/**
 * How long a page may go on that nobody waits for: WebAssembly looks for aborts while it reads lines, and not while it lays
 * out a page or draws one.
 */
const ABORT_GRACE_MS = 200;

export class RecognitionEngine
  extends LazyEngine<RecognizerOptions, KnownModel, RecognizerModel, PageJob, PageEvent>
  implements RecognitionPort
{
  private documents = 0;

  constructor(options: RecognitionEngineOptions) {
    super("recognition", options, { abortGraceMs: ABORT_GRACE_MS });
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
    for await (const event of this.supervisor.run(job, signal)) {
      if (event.type === "counted") pageCount = event.pages;
      else if (event.type !== "page") yield event;
    }
    const wanted = wantedPages(work, pageCount);
    for (const number of wanted) {
      const page = { number, task, isLast: number === wanted.at(-1) };
      for await (const event of this.supervisor.run({ ...job, page }, signal)) {
        if (event.type === "page") yield { type: "page", page: event.page, of: wanted.length };
      }
    }
    yield { type: "result", pageCount };
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
