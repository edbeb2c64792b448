// The loop of a speech engine: each turn says a sentence of one request, or a part of a long one.

import { FORMATS } from "../../../audio/encode/formats.ts";
import { join, type Encoder } from "../../../audio/encode/encoder.ts";
import type { SpeechWork } from "../../../domain/speech.ts";
import type { JobKey } from "../../process/protocol.ts";
import type { SpeechJob } from "../port.ts";
import type { FromSpeaker } from "../protocol.ts";
import { Turns } from "../../process/turns.ts";

/** Text to phonemes. */
export interface Pronunciation {
  sentences(text: string): string[];
  phonemes(sentence: string): string;
  /** Pieces of at most so many phonemes, cut where one hears it least. */
  pieces(phonemes: string, most: number): string[];
  /** As the voice takes them. */
  ids(phonemes: string): number[];
}

/** Phonemes to samples. */
export interface Speaker {
  readonly sampleRate: number;
  speak(phonemes: readonly number[], speed: number): Promise<Float32Array>;
}

/**
 * Phonemes that are said at once, at the usual speed: a few seconds of sound, for which the longest computation that nothing
 * can interrupt takes less than 250 ms.
 */
const MOST_PHONEMES = 150;

interface QueuedJob {
  readonly key: JobKey;
  readonly work: SpeechWork;
  readonly client?: string;
  /** The last is next. */
  readonly sentences: string[];
  /** Phonemes of the sentence that is being said; the last is next. */
  pieces: string[];
  encoder?: Encoder;
  /** Of a file that is sent when it is whole. */
  held?: Uint8Array[];
  samples: number;
  phonemes: number;
}

export class SpeechWorker {
  private readonly turns = new Turns<QueuedJob>();
  private wake: () => void = () => {};

  constructor(
    private readonly pronunciation: Pronunciation,
    private readonly speaker: Speaker,
    private readonly send: (message: FromSpeaker) => void,
  ) {}

  submit(key: JobKey, { work, client }: SpeechJob): void {
    const sentences = this.pronunciation.sentences(work.text).reverse();
    const own = client === undefined ? {} : { client };
    this.turns.add({ key, work, ...own, sentences, pieces: [], samples: 0, phonemes: 0 });
    this.send({ type: "accepted", key, event: { type: "accepted" } });
    this.wake();
  }

  cancel(key: JobKey): void {
    this.turns.remove((job) => job.key === key);
  }

  /** Computes for ever. */
  async run(): Promise<never> {
    for (;;) {
      if (this.turns.isEmpty) await new Promise<void>((resolve) => (this.wake = resolve));
      // Messages that came meanwhile are read here.
      await new Promise(setImmediate);
      await this.step();
    }
  }

  /** Takes one turn. */
  async step(): Promise<void> {
    const job = this.turns.next();
    if (!job) return;
    try {
      await this.advance(job);
    } catch (error) {
      this.send({ type: "log", level: "error", text: error instanceof Error ? error.message : String(error) });
      this.reject(job, "internal_error", "The voice could not say this text; the log has the details.");
    }
  }

  private async advance(job: QueuedJob): Promise<void> {
    job.encoder ??= await this.begin(job);
    if (job.pieces.length === 0) {
      const sentence = job.sentences.pop();
      if (sentence === undefined) return this.finish(job, job.encoder);
      job.pieces = this.piecesOf(sentence, job.work.speed);
      // Reading blocks as saying does: a cancel that came meanwhile is read before the next.
      await new Promise(setImmediate);
    }
    const piece = job.pieces.pop();
    if (piece === undefined || !this.turns.has(job)) return;
    const ids = this.pronunciation.ids(piece);
    const samples = await this.speaker.speak(ids, job.work.speed);
    // It was cancelled while it was computed.
    if (!this.turns.has(job)) return;
    job.samples += samples.length;
    job.phonemes += ids.length;
    const bytes = job.encoder.push(samples);
    this.tell(job, bytes);
  }

  private begin(job: QueuedJob): Promise<Encoder> {
    this.send({ type: "started", keys: [job.key] });
    const { make, complete, isWhole } = FORMATS[job.work.format];
    // Nobody has to wait for one sentence, so its file can say how long it is.
    if (complete && (isWhole || job.sentences.length === 1)) job.held = [];
    return make(this.speaker.sampleRate);
  }

  /** The last comes first; none where nothing in the sentence can be said. */
  private piecesOf(sentence: string, speed: number): string[] {
    const phonemes = this.pronunciation.phonemes(sentence);
    // What is said slowly takes longer to compute.
    const most = Math.floor(MOST_PHONEMES * Math.min(1, Math.max(0.5, speed)));
    return phonemes === "" ? [] : this.pronunciation.pieces(phonemes, most).reverse();
  }

  private finish(job: QueuedJob, encoder: Encoder): void {
    if (job.samples === 0) {
      return this.reject(job, "invalid_value", "'input' must have something in it that can be said.", "input");
    }
    this.tell(job, encoder.finish());
    if (job.held) {
      const file = join(job.held);
      FORMATS[job.work.format].complete?.(file, job.samples);
      delete job.held;
      this.tell(job, file);
    }
    const result = { seconds: job.samples / this.speaker.sampleRate, phonemes: job.phonemes };
    this.turns.remove((other) => other === job);
    this.send({ type: "events", outputs: [], finished: [{ key: job.key, event: { type: "result", result } }] });
  }

  private tell({ key, held }: QueuedJob, bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    if (held) held.push(bytes);
    else this.send({ type: "events", outputs: [{ key, events: [{ type: "audio", bytes }] }], finished: [] });
  }

  private reject(job: QueuedJob, code: "internal_error" | "invalid_value", message: string, param?: string): void {
    this.turns.remove((other) => other === job);
    this.send({ type: "rejected", key: job.key, code, message, ...(param !== undefined && { param }) });
  }
}
