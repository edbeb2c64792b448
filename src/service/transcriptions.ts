// Recordings as text: where the recording is, which model reads it, and when its file is deleted.

import { fieldError, SvcError } from "../domain/errors.ts";
import type { RequestOrigin } from "../domain/request-origin.ts";
import type {
  Heard,
  ListeningWork,
  RawSound,
  RecordingSource,
  TranscriptionTask,
  TranscriptionEvent,
  TranscriptionProgress,
} from "../domain/transcription.ts";
import type { TranscriptionJob } from "../engine/transcription/port.ts";
import { noUsage } from "../domain/usage.ts";
import type { MediaLimits } from "../media/limits.ts";
import { localPath } from "../media/local-file.ts";
import { inlineBytes } from "../media/load-media.ts";
import { atField } from "../media/refusal.ts";
import type { TemporaryFile, TemporaryFiles } from "../store/temporary-files.ts";
import type { ModelRouter } from "./model-router.ts";
import { ProgressById } from "./progress-by-id.ts";
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
  /** It belongs to a request that was admitted before. */
  readonly partOf?: true;
}

/** What those who want the text are told. */
type SpokenEvent = Exclude<TranscriptionEvent, { readonly type: "started" | "progress" }>;

export class TranscriptionService {
  private readonly progress = new ProgressById<TranscriptionProgress>();

  constructor(private readonly deps: TranscriptionDeps) {}

  /** Where recordings are put that come in a form. */
  get recordings(): TemporaryFiles {
    return this.deps.recordings;
  }

  /** Throws what a request would be refused with at this moment whatever model it names: `engine_unavailable`, `server_busy`. */
  checkCapacity(): void {
    const { router, requests } = this.deps;
    requests.checkCapacity(...router.findAll(undefined, "transcription"));
  }

  /** How far the request of this id is; undefined before it is known, and after its end. */
  progressOf(id: string): TranscriptionProgress | undefined {
    return this.progress.of(id);
  }

  /**
   * Takes a recording from where a request says it is; `field`: where base64 stands in it. Throws SvcError `invalid_value`,
   * `payload_too_large` or `storage_full`, or the signal's reason.
   */
  async recording(source: RecordingSource | undefined, signal: AbortSignal, field = "data"): Promise<TemporaryFile> {
    const { recordings } = this.deps;
    if (!source) {
      const sentence = "is required: the recording, in a form or by its path; 'data' has it in base64";
      throw fieldError("missing_required_parameter", "file", sentence);
    }
    if (source.kind === "path") return this.local(source.path);
    const bytes = await atField(field, () => inlineBytes(source.data, recordings.largest, signal));
    return recordings.receive([bytes], field);
  }

  /**
   * Recognises a recording, which is discarded at the end, whatever that is. Throws SvcError (`engine_unavailable`,
   * `server_busy`, `deadline_exceeded`, `request_cancelled` and what the engine throws), or the signal's reason after an
   * abort.
   */
  async *transcribe(
    recording: TemporaryFile,
    run: TranscriptionRun,
    signal: AbortSignal,
    report: RequestReport,
  ): AsyncGenerator<SpokenEvent, void, void> {
    try {
      const { path, field } = recording;
      yield* this.run({ ...run.work, path, field }, run, signal, report);
    } finally {
      await recording.discard();
    }
  }

  /** Recognises what is speech from its beginning to its end. Throws the same. */
  transcribeSpeech(
    sound: RawSound,
    run: TranscriptionRun,
    signal: AbortSignal,
    report: RequestReport,
  ): AsyncGenerator<SpokenEvent, void, void> {
    return this.run({ ...run.work, sound }, run, signal, report);
  }

  /** What goes by this name. Throws SvcError `engine_unavailable` when there is no transcription model. */
  model(name?: string): { readonly name: string; readonly tellsSpeech: boolean } {
    const { model, engine } = this.deps.router.find(name, "transcription");
    return { name: model, tellsSpeech: engine.tellsSpeech };
  }

  /** Looks for speech in what came next in a stream. Throws what the engine throws, or the signal's reason. */
  async listen(model: string, work: ListeningWork, signal: AbortSignal): Promise<Heard> {
    return this.deps.router.find(model, "transcription").engine.listen(work, signal);
  }

  private async *run(
    work: TranscriptionJob["work"],
    { model, id, client, deadline, background, partOf }: TranscriptionRun,
    signal: AbortSignal,
    report: RequestReport,
  ): AsyncGenerator<SpokenEvent, void, void> {
    const backend = this.deps.router.find(model, "transcription");
    if (work.translate && !backend.engine.translates) throw cannotTranslate(backend.model);
    // At 0 all sound is speech, as it is without a detector.
    if (work.detection && work.detection.threshold !== 0 && !backend.engine.tellsSpeech) throw withoutDetector();
    const job = { work, client, background };
    let tokens = 0;
    const spec = { id, client, backend, deadline, background, partOf };
    const begin = (live: AbortSignal) => backend.engine.run(job, live);
    const usage = () => ({ ...noUsage(), completionTokens: tokens });
    const { tell, end } = this.progress.begin(id);
    try {
      for await (const event of this.deps.requests.compute(spec, signal, report, begin, usage)) {
        if (event.type === "segment") tokens += event.segment.tokens.length;
        if (event.type === "progress") tell(event.progress);
        else yield event;
      }
    } finally {
      end();
    }
  }

  /** A file of the operator's: it stays. */
  private async local(path: string): Promise<TemporaryFile> {
    const { recordings, mediaLimits } = this.deps;
    const found = await atField("file", () => localPath(path, mediaLimits.mediaRoot, recordings.largest));
    return { path: found, field: "file", discard: async () => {} };
  }
}

/** Its text would come as it was spoken, and pass for English. */
const cannotTranslate = (model: string): SvcError =>
  new SvcError("invalid_value", `The model ${model} was not trained to translate: translations need another one.`, {
    param: "model",
  });

const withoutDetector = (): SvcError => {
  const sentence = `must be "auto" or have a threshold of 0: this server has no speech detector`;
  return fieldError("unsupported_parameter", "chunking_strategy", sentence);
};
