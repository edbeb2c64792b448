// The loop of a speech engine: each turn speaks a sentence of one request, or a part of a long one.

import { FORMATS } from "../../../audio/encode/formats.ts";
import type { AudioFormat, Encoder } from "../../../audio/encode/encoder.ts";
import { fieldError, SvcError } from "../../../domain/errors.ts";
import { SPEECH_RATE, type SpeechWork } from "../../../domain/speech.ts";
import { ProgramError } from "../../process/program.ts";
import type { JobKey } from "../../process/protocol.ts";
import { sendRefusal } from "../../process/refusal.ts";
import type { SpeechJob } from "../port.ts";
import type { FromSpeaker } from "../protocol.ts";
import { ClientTurns, messagesRead } from "../../process/client-turns.ts";

/** A loaded source of voices. */
export interface Speaker {
  /** Splits a text into the sentences that are spoken one after another. */
  sentences(work: SpeechWork): readonly string[];
  /**
   * Splits a sentence into pieces that are spoken at once; empty when nothing in it can be spoken. The signal aborts when
   * they are not wanted any more. Throws ProgramError when a program failed.
   */
  pieces(sentence: string, work: SpeechWork, signal: AbortSignal): Promise<readonly string[]>;
  /** Speaks a piece; signal and errors are as above. */
  speak(piece: string, work: SpeechWork, signal: AbortSignal): Promise<Utterance>;
}

export interface Utterance {
  /** From -1 to 1, at SPEECH_RATE. */
  readonly samples: Float32Array;
  /** How many phoneme symbols it was made of; characters, where only those are known. */
  readonly phonemes: number;
}

/** Seconds of sound encoded at once: encoding blocks the thread, and some formats take 20 ms per second of sound. */
const ENCODED_SECONDS = 4;
/** Seconds of sound, 29 MB, that are kept until a file is complete. A longer file states no length. */
const KEPT_SECONDS = 600;

interface QueuedJob {
  readonly key: JobKey;
  readonly work: SpeechWork;
  readonly client?: string | undefined;
  readonly ended: AbortController;
  /** In reverse order: the last one is next. */
  readonly sentences: string[];
  /** Pieces of the present sentence, in reverse order. */
  pieces: string[];
  encoder?: Encoder;
  /** Encoded parts of a file that is sent only when it is complete. */
  kept?: Uint8Array[];
  samples: number;
  phonemes: number;
  /** Characters of all sentences, and of those that were begun. */
  readonly length: number;
  begun: number;
  isHeld: boolean;
}

/** Returns whether the file stays in memory until it is complete. Only one such file is made at a time. */
const isWhole = ({ work }: QueuedJob): boolean => FORMATS[work.format].isWhole === true;

export class SpeechLoop {
  private readonly turns = new ClientTurns<QueuedJob>();

  constructor(
    private readonly speaker: Speaker,
    private readonly send: (message: FromSpeaker) => void,
  ) {}

  submit(key: JobKey, { work, client }: SpeechJob): void {
    const sentences = this.speaker.sentences(work).toReversed();
    const ended = new AbortController();
    const length = sentences.reduce((sum, sentence) => sum + sentence.length, 0);
    const none = { pieces: [], samples: 0, phonemes: 0, begun: 0, isHeld: false };
    this.turns.add({ key, work, client, ended, sentences, length, ...none });
    this.send({ type: "accepted", key, event: { type: "accepted" } });
  }

  /**
   * Cancels a job. While a computation cannot be interrupted, this message is read only after it; the rejection tells
   * the front process that it has ended.
   */
  cancel(key: JobKey): void {
    const job = this.find(key);
    if (!job) return;
    this.reject(job, new SvcError("request_cancelled", "The text is not wanted any more."));
    job.ended.abort();
  }

  /** Pauses a job while `held` is true. */
  hold(key: JobKey, held: boolean): void {
    this.turns.hold(this.find(key), held);
  }

  /** Computes until the process ends. */
  run(): Promise<never> {
    return this.turns.run(() => this.step());
  }

  /** Takes one turn. */
  async step(): Promise<void> {
    const job = this.turns.next();
    if (!job) return;
    try {
      await this.advance(job);
    } catch (error) {
      if (this.turns.has(job)) this.reject(job, error);
    }
  }

  private readonly find = (key: JobKey) => this.turns.find((job) => job.key === key);

  private async advance(job: QueuedJob): Promise<void> {
    if (!job.encoder && isWhole(job) && this.turns.find((other) => isWhole(other) && other.kept !== undefined)) return;
    job.encoder ??= await this.begin(job);
    if (job.pieces.length === 0) {
      const sentence = job.sentences.pop();
      if (sentence === undefined) return this.finish(job, job.encoder);
      job.begun += sentence.length;
      job.pieces = (await this.speaker.pieces(sentence, job.work, job.ended.signal)).toReversed();
      // Phonemizing blocks like speaking: a cancel message that came meanwhile is read before the next step.
      await messagesRead();
    }
    const piece = job.pieces.pop();
    if (piece === undefined || !this.turns.has(job)) return;
    const { samples, phonemes } = await this.speaker.speak(piece, job.work, job.ended.signal);
    // The job was cancelled during the computation.
    if (!this.turns.has(job)) return;
    job.samples += samples.length;
    job.phonemes += phonemes;
    const most = ENCODED_SECONDS * SPEECH_RATE;
    for (let at = 0; at < samples.length && this.turns.has(job); at += most) {
      this.tell(job, job.encoder.push(samples.subarray(at, at + most)));
      await messagesRead();
    }
    if (job.pieces.length > 0 || !this.turns.has(job)) return;
    const progress = { done: job.begun, of: job.length };
    this.send({ type: "events", outputs: [{ key: job.key, events: [{ type: "progress", progress }] }], finished: [] });
    if (job.sentences.length === 0) this.finish(job, job.encoder);
  }

  private begin(job: QueuedJob): Promise<Encoder> {
    this.send({ type: "started", keys: [job.key] });
    const { make, complete } = FORMATS[job.work.format];
    // Keeping a single sentence delays nothing, and lets its file state its length.
    if (complete && (isWhole(job) || job.sentences.length === 1)) job.kept = [];
    return make();
  }

  private finish(job: QueuedJob, encoder: Encoder): void {
    if (job.samples === 0) {
      throw fieldError("invalid_value", "input", "must have something in it that can be said");
    }
    this.tell(job, encoder.finish());
    this.release(job, FORMATS[job.work.format].complete);
    const result = { phonemes: job.phonemes };
    this.turns.remove(job);
    this.send({ type: "events", outputs: [], finished: [{ key: job.key, event: { type: "result", result } }] });
  }

  private tell(job: QueuedJob, bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    const { key, kept, samples } = job;
    if (!kept)
      return this.send({ type: "events", outputs: [{ key, events: [{ type: "audio", bytes }] }], finished: [] });
    kept.push(bytes);
    if (samples > KEPT_SECONDS * SPEECH_RATE) this.release(job);
  }

  /** Sends what was kept of a file; `complete` fills in its header. */
  private release(job: QueuedJob, complete?: AudioFormat["complete"]): void {
    const { kept = [], samples } = job;
    delete job.kept;
    if (kept[0]) complete?.(kept[0], samples);
    for (const part of kept) this.tell(job, part);
  }

  private reject(job: QueuedJob, error: unknown): void {
    this.turns.remove(job);
    const message = "The voice could not say this text; the log has the details.";
    if (!(error instanceof ProgramError)) return sendRefusal(this.send, job.key, error, message);
    this.send({ type: "log", level: "error", text: error.message });
    this.send({ type: "rejected", key: job.key, code: "engine_crashed", message });
  }
}
