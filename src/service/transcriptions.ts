// Transcribes recordings: opens the file, chooses the model, and deletes the file at the end.

import { fieldError, missing, SvcError } from "../domain/errors.ts";
import type { FileSource } from "../domain/file-source.ts";
import type { RequestOrigin } from "../domain/request-origin.ts";
import type { Heard, ListeningWork, RawSound, TranscriptionTask, TranscriptionEvent } from "../domain/transcription.ts";
import type { TranscriptionJob } from "../engine/transcription/port.ts";
import { noUsage } from "../domain/usage.ts";
import type { MediaLimits } from "../media/limits.ts";
import type { TemporaryFile, TemporaryFiles } from "../store/temporary-files.ts";
import type { ModelRouter } from "./model-router.ts";
import { namedFile } from "./named-file.ts";
import type { RequestReport, RequestService } from "./request.ts";

interface TranscriptionDeps {
  readonly router: ModelRouter;
  readonly requests: RequestService;
  readonly recordings: TemporaryFiles;
  readonly mediaLimits: MediaLimits;
}

interface TranscriptionRun extends RequestOrigin {
  readonly model?: string | undefined;
  readonly work: TranscriptionTask;
}

/** The events that clients get. */
type SpokenEvent = Exclude<TranscriptionEvent, { readonly type: "started" | "progress" }>;

export class TranscriptionService {
  constructor(private readonly deps: TranscriptionDeps) {}

  /** Storage for recordings that arrive in a form. */
  get recordings(): TemporaryFiles {
    return this.deps.recordings;
  }

  /** Throws the error with which a client's request would be refused now for any model: `engine_unavailable`, `server_busy`. */
  checkCapacity(origin: Pick<RequestOrigin, "holder">): void {
    const { router, requests } = this.deps;
    requests.checkCapacity(router.findAll(undefined, "transcription"), origin);
  }

  /** Returns the recording that a request refers to. Throws `missing_required_parameter`, or as `namedFile` does. */
  async recording(source: FileSource | undefined, signal: AbortSignal): Promise<TemporaryFile> {
    const { recordings: files, mediaLimits } = this.deps;
    if (source) return namedFile(source, { files, mediaRoot: mediaLimits.mediaRoot }, signal);
    throw missing("file", "the recording, in a form or by its path; 'data' has it in base64");
  }

  /**
   * Transcribes a recording and discards it at the end, whatever the outcome. Throws SvcError (`engine_unavailable`,
   * `server_busy`, `deadline_exceeded`, `request_cancelled` and what the engine throws), or the signal's reason after
   * an abort.
   */
  async *transcribe(
    recording: TemporaryFile,
    { work, ...run }: TranscriptionRun,
    signal: AbortSignal,
    report: RequestReport,
  ): AsyncGenerator<SpokenEvent, void, void> {
    try {
      const { path, field } = recording;
      yield* this.run({ ...work, path, field }, run, signal, report);
    } finally {
      await recording.discard();
    }
  }

  /** Transcribes sound that is speech throughout. Throws as `transcribe` does. */
  transcribeSpeech(
    sound: RawSound,
    { work, ...run }: TranscriptionRun,
    signal: AbortSignal,
    report: RequestReport,
  ): AsyncGenerator<SpokenEvent, void, void> {
    return this.run({ ...work, sound }, run, signal, report);
  }

  /** Returns the model for this name. Throws SvcError `engine_unavailable` when there is no transcription model. */
  model(name?: string): { readonly name: string; readonly detectsSpeech: boolean } {
    const { model, engine } = this.deps.router.find(name, "transcription");
    return { name: model, detectsSpeech: engine.detectsSpeech };
  }

  /** Detects speech in the next piece of a stream. Throws what the engine throws, or the signal's reason. */
  async listen(model: string, work: ListeningWork, signal: AbortSignal): Promise<Heard> {
    return this.deps.router.find(model, "transcription").engine.listen(work, signal);
  }

  private async *run(
    work: TranscriptionJob["work"],
    { model, ...origin }: Omit<TranscriptionRun, "work">,
    signal: AbortSignal,
    report: RequestReport,
  ): AsyncGenerator<SpokenEvent, void, void> {
    const backend = this.deps.router.find(model, "transcription");
    if (work.translate && !backend.engine.translates) throw cannotTranslate(backend.model);
    // At a threshold of 0 all sound counts as speech, as without a detector.
    if (work.detection && work.detection.threshold !== 0 && !backend.engine.detectsSpeech) throw withoutDetector();
    const { client, background } = origin;
    const job = { work, client, background };
    let tokens = 0;
    const spec = { ...origin, backend };
    const begin = (live: AbortSignal) => backend.engine.run(job, live);
    const usage = () => ({ ...noUsage(), completionTokens: tokens });
    for await (const event of this.deps.requests.compute(spec, signal, report, begin, usage)) {
      if (event.type === "segment") tokens += event.segment.tokens.length;
      if (event.type === "progress") report.progress = event.progress;
      else yield event;
    }
  }
}

/** Without this error, the text would stay in the spoken language and pass for English. */
const cannotTranslate = (model: string): SvcError =>
  new SvcError("invalid_value", `The model ${model} was not trained to translate: translations need another one.`, {
    param: "model",
  });

const withoutDetector = (): SvcError => {
  const sentence = `must be "auto" or have a threshold of 0: this server has no speech detector`;
  return fieldError("unsupported_parameter", "chunking_strategy", sentence);
};
