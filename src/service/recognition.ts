// Recognises the pages of pictures and documents: opens files, chooses the model, and deletes the files at the end.

import type { FileSource } from "../domain/file-source.ts";
import type { RecognitionEvent, RecognitionWork, TextTask, TextWish } from "../domain/recognition.ts";
import type { RequestOrigin } from "../domain/request-origin.ts";
import { noUsage } from "../domain/usage.ts";
import type { TemporaryFile, TemporaryFiles } from "../store/temporary-files.ts";
import type { ModelRouter } from "./model-router.ts";
import { namedFile } from "./named-file.ts";
import type { RequestReport, RequestService } from "./request.ts";
import type { TextLanguages } from "./text-languages.ts";

interface RecognitionDeps {
  readonly router: ModelRouter;
  readonly requests: RequestService;
  readonly documents: TemporaryFiles;
  readonly languages: TextLanguages;
  /** The only folder whose files requests may name by path. */
  readonly mediaRoot?: string;
}

interface RecognitionRun extends RequestOrigin {
  readonly model?: string | undefined;
  readonly work: Omit<RecognitionWork<TextWish>, "path" | "field">;
}

/** `document`: number of the document in the request, from 0. */
type DocumentEvent = Exclude<RecognitionEvent, { readonly type: "started" }> & { readonly document: number };

export class RecognitionService {
  constructor(private readonly deps: RecognitionDeps) {}

  /** Storage for documents that arrive in a form. */
  get documents(): TemporaryFiles {
    return this.deps.documents;
  }

  /** Throws the error with which a client's request would be refused now: `engine_unavailable`, `server_busy`. */
  checkCapacity(origin: Pick<RequestOrigin, "holder">): void {
    const { router, requests } = this.deps;
    requests.checkCapacity(router.findAll(undefined, "ocr"), origin);
  }

  /** Returns the name of the default model. Throws SvcError `engine_unavailable` when there is none. */
  model(): string {
    return this.deps.router.find(undefined, "ocr").model;
  }

  /**
   * Returns the document that a request refers to. Throws SvcError `invalid_value`, `not_found`, `payload_too_large` or
   * `storage_full`, or the signal's reason.
   */
  document(source: FileSource, signal: AbortSignal): Promise<TemporaryFile> {
    const { documents: files, mediaRoot } = this.deps;
    return namedFile(source, { files, mediaRoot }, signal);
  }

  /**
   * Recognises the pages of documents, one after the other, and discards their files at the end, whatever the outcome.
   * Throws SvcError (`invalid_value` about languages and pages, `engine_unavailable`, `server_busy`,
   * `deadline_exceeded`, `request_cancelled` and what the engine throws), or the signal's reason after an abort.
   */
  async *recognize(
    documents: readonly TemporaryFile[],
    { model, work, ...origin }: RecognitionRun,
    signal: AbortSignal,
    report: RequestReport,
  ): AsyncGenerator<DocumentEvent, void, void> {
    try {
      const { text, ...others } = work.task;
      const task = { ...others, ...(text && { text: this.textTask(text) }) };
      const backend = this.deps.router.find(model, "ocr");
      const jobs = documents.map(({ path, field }) => ({
        work: { ...work, task, path, field },
        client: origin.client,
      }));
      const spec = { ...origin, backend };
      const begin = (live: AbortSignal) => all(jobs.map((job) => backend.engine.run(job, live)));
      const usage = ({ document }: { readonly document: number }) =>
        document < jobs.length - 1 ? undefined : noUsage();
      // Pages of the current document.
      let pages = 0;
      for await (const event of this.deps.requests.compute(spec, signal, report, begin, usage)) {
        if (event.type === "page") report.progress = { done: ++pages, of: event.of };
        if (event.type === "result") pages = 0;
        yield event;
      }
    } finally {
      await Promise.all(documents.map((one) => one.discard()));
    }
  }

  private textTask({ languages, field = "languages", ...task }: TextWish): TextTask {
    return { ...task, ...this.deps.languages.of(languages, field) };
  }
}

type InDocument<Event> = Event & { readonly document: number };

/** Joins runs one after the other into one run, which is accepted and starts once. */
async function* all(
  runs: readonly AsyncIterable<RecognitionEvent>[],
): AsyncGenerator<InDocument<RecognitionEvent>, void, void> {
  for (const [document, run] of runs.entries()) {
    for await (const event of run) {
      if (document === 0 || event.type === "page" || event.type === "result") yield { ...event, document };
    }
  }
}
