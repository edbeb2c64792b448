// A recording on its way through the engine: read, cut into stretches of speech, recognised, told in order.

import { deflateSync } from "node:zlib";
import type { Segment, Whisper, WhisperJob } from "../../../../ffi/whisper/api.ts";
import { SvcError } from "../../../domain/errors.ts";
import type { SpeechSegment, SpokenWord, TranscriptionProgress } from "../../../domain/transcription.ts";
import type { JobKey } from "../../process/protocol.ts";
import type { TranscriptionJob } from "../port.ts";
import { SAMPLE_RATE } from "../../../audio/decode/tools.ts";
import { PhraseFinder, type Span } from "./phrases.ts";
import { LONGEST_STRETCH, PhraseQueue, type Stretch } from "./stretch.ts";

/** A recording's samples, 16,000 a second, as they are decoded; reading throws SvcError about what cannot be. */
export interface Sound {
  readonly windows: AsyncIterator<Float32Array, void, void>;
  /** How much of it has been read, from 0 to 1; undefined: nobody knows. */
  readonly share: () => number | undefined;
}

/** Progress is told when so much more is done. */
const PROGRESS_SECONDS = 1;

/** What the model says where nobody speaks: a remark in brackets, notes. */
const REMARK = /^\s*(?:\[[^\]]*\]|\([^)]*\)|\*[^*]*\*|[♪♫🎵\s]+)[\s.]*$/u;

/** Samples of speech that are read ahead of what is recognised: reading is faster. */
const AHEAD = 2 * LONGEST_STRETCH;
/** Encoder positions: 50 a second, and room for the model to notice the end. */
const POSITIONS_A_SECOND = 50;
const SPARE_POSITIONS = 128;
/** Shorter sound is taken for what it is not. */
const LEAST_POSITIONS = 384;
/** Text of a shortened encoder that is worse than this is recognised again with the whole one. */
const ACCEPTABLE = { averageLogprob: -0.8, compressionRatio: 2.4 };

/** A stretch that is recognised. */
interface Part {
  readonly stretch: Stretch;
  job: WhisperJob | undefined;
  /** Whether the encoder has only as many positions as the sound needs. */
  isShortened: boolean;
  /** Segments told so far, of those that the job has. */
  reported: number;
  /** Waiting to be told. */
  ready: SpeechSegment[];
  done: boolean;
}

export class RecordingWork {
  private readonly finder: PhraseFinder;
  private readonly waiting = new PhraseQueue();
  /** In the order of the recording. */
  private readonly parts: Part[] = [];
  private language: string | undefined;
  private speechSamples = 0;
  private hasText = false;
  private hasGivenBack = false;
  private ended = false;
  /** Of what was recognised, the end; in seconds, as what was told of it. */
  private transcribed = 0;
  private reportedProgress = 0;
  started = false;
  /** Number of the turn in which a stretch of it was begun last. */
  served = 0;
  /** And of that in which it was read on last. */
  heard = 0;
  reading = false;

  constructor(
    readonly key: JobKey,
    readonly job: TranscriptionJob,
    private readonly whisper: Whisper,
    private readonly sound: Sound,
    listen: ((samples: Float32Array) => readonly Span[]) | undefined,
  ) {
    this.finder = new PhraseFinder(listen);
    this.language = job.work.language;
  }

  get running(): number {
    return this.parts.filter(({ job }) => job !== undefined).length;
  }

  /** Whether reading on would bring the next stretches. */
  get wantsSound(): boolean {
    return !this.ended && !this.reading && this.waiting.length <= AHEAD;
  }

  /** Whether a stretch of at most so many samples can be begun: others wait for the first, which tells the language. */
  canBegin(longest: number): boolean {
    if (this.language === undefined && this.parts.length > 0) return false;
    return this.ended ? !this.waiting.isEmpty : this.waiting.fills(longest);
  }

  /** Whether nothing is left but a stretch of at most so many samples. */
  endsWithin(samples: number): boolean {
    return this.ended && this.waiting.length <= samples;
  }

  get isOver(): boolean {
    return this.ended && this.waiting.isEmpty && this.parts.length === 0;
  }

  /** How far it is, when it is worth telling. */
  takeProgress(): TranscriptionProgress | undefined {
    const { finder, ended } = this;
    const isIdle = this.parts.length === 0 && this.waiting.isEmpty;
    const seconds = isIdle ? Math.max(this.transcribed, finder.heard / SAMPLE_RATE) : this.transcribed;
    if (seconds < this.reportedProgress + PROGRESS_SECONDS) return undefined;
    this.reportedProgress = seconds;
    const share = ended ? 1 : this.sound.share();
    return { seconds, ...(share && { of: Math.max(seconds, finder.length / share / SAMPLE_RATE) }) };
  }

  get result() {
    if (!this.hasText) {
      const { work } = this.job;
      // What is spoken live has no field of a request.
      const param = "field" in work ? work.field : undefined;
      const what = param === undefined ? "The sound" : `'${param}'`;
      const message = `${what} has no speech: nobody speaks in it, or nothing that the model understands.`;
      throw new SvcError("no_speech", message, { ...(param !== undefined && { param }) });
    }
    const speechSeconds = this.speechSamples / SAMPLE_RATE;
    return { language: this.language ?? "en", seconds: this.finder.length / SAMPLE_RATE, speechSeconds };
  }

  /** Reads on, and cuts what came. Throws what reading throws. */
  async read(): Promise<void> {
    this.reading = true;
    try {
      const { value: samples, done } = await this.sound.windows.next();
      const phrases = done ? this.finder.end() : this.finder.push(samples);
      for (const phrase of phrases) {
        this.speechSamples += phrase.samples.length;
        this.waiting.add(phrase);
      }
      if (done) this.ended = true;
    } finally {
      this.reading = false;
    }
  }

  /** Hands the next stretch of at most so many samples to the model, which computes it with so many threads; returns the job. */
  begin(longest: number, threads: number): WhisperJob | undefined {
    const stretch = this.waiting.take(longest);
    if (!stretch) return undefined;
    const { audioContext } = this.whisper.model();
    const needed = Math.ceil(stretch.seconds * POSITIONS_A_SECOND) + SPARE_POSITIONS;
    const positions = Math.max(needed, LEAST_POSITIONS);
    const isShortened = positions < audioContext;
    const part: Part = { stretch, job: undefined, isShortened, reported: 0, ready: [], done: false };
    part.job = this.submit(part, threads, isShortened ? positions : 0);
    this.parts.push(part);
    return part.job;
  }

  /**
   * Looks what a job of this recording has come to: segments that can be told, and the job that goes on, which may be another.
   * Throws when it failed.
   */
  advance(job: WhisperJob, threads: number): { segments: SpeechSegment[]; next: WhisperJob | undefined } {
    const part = this.parts.find((one) => one.job === job);
    if (!part) return { segments: [], next: undefined };
    const state = this.whisper.state(job);
    if (typeof state !== "string") throw new Error(state.error);
    const isDone = state === "done";
    // Whether it has to be done again is known at the end.
    if (part.isShortened && !isDone) return { segments: [], next: job };
    const segments = this.whisper.segments(job, part.reported);
    // Where it makes nothing of the sound, it says nothing.
    const isAccepted = segments.length > 0 && segments.every(isAcceptable);
    if (part.isShortened && !isAccepted) {
      this.whisper.release(job);
      part.isShortened = false;
      part.job = this.submit(part, threads, 0);
      return { segments: [], next: part.job };
    }
    // What is recognised again is detected again: what went wrong may have been that.
    this.language ??= this.whisper.language(job)?.code;
    part.reported += segments.length;
    part.ready.push(
      ...segments.filter(({ text }) => text.trim() && !REMARK.test(text)).map((one) => reported(one, part)),
    );
    if (isDone) {
      this.whisper.release(job);
      part.job = undefined;
      part.done = true;
      this.hasGivenBack = false;
    }
    return { segments: this.inOrder(), next: part.job };
  }

  /**
   * Gives back the stretch that was begun last, if it has more samples than that and nothing of it is told: it is begun again
   * later. Returns its job, which has ended. Once, until another stretch is done: a phrase may be longer than any limit.
   */
  giveBack(longest: number): WhisperJob | undefined {
    const part = this.parts.at(-1);
    if (part?.job === undefined || part.reported > 0 || part.stretch.samples.length <= longest) return undefined;
    if (this.hasGivenBack) return undefined;
    this.hasGivenBack = true;
    this.parts.pop();
    this.waiting.putBack(part.stretch);
    this.whisper.release(part.job);
    return part.job;
  }

  /** Stops all work on it. */
  close(): void {
    for (const { job } of this.parts) if (job !== undefined) this.whisper.release(job);
    this.parts.length = 0;
    this.waiting.clear();
    this.ended = true;
    // Behind a window that is being decoded, which the signal ends.
    void this.sound.windows.return?.().catch(() => {});
  }

  private submit({ stretch }: Part, threads: number, audioContext: number): WhisperJob {
    const { translate, prompt = "", temperature, words } = this.job.work;
    return this.whisper.submit(stretch.samples, {
      translate,
      prompt,
      temperature,
      wordTimes: words,
      audioContext,
      threads,
      ...(this.language !== undefined && { language: this.language }),
    });
  }

  /** What no earlier stretch stands in front of. */
  private inOrder(): SpeechSegment[] {
    const segments: SpeechSegment[] = [];
    for (let [first] = this.parts; first; [first] = this.parts) {
      segments.push(...first.ready.splice(0));
      this.transcribed = Math.max(this.transcribed, first.done ? first.stretch.end : (segments.at(-1)?.end ?? 0));
      if (!first.done) break;
      this.parts.shift();
    }
    this.hasText ||= segments.length > 0;
    return segments;
  }
}

const isAcceptable = (segment: Segment): boolean =>
  segment.avgLogprob >= ACCEPTABLE.averageLogprob && compressionRatio(segment.text) <= ACCEPTABLE.compressionRatio;

/** As Whisper's authors compute it. */
function compressionRatio(text: string): number {
  const bytes = Buffer.from(text);
  return bytes.length / deflateSync(bytes).length;
}

/** A segment with the recording's times. */
function reported(segment: Segment, { stretch }: Part): SpeechSegment {
  const { start, end, text, tokens, temperature, avgLogprob, noSpeechProb, words } = segment;
  const word = (one: SpokenWord) => ({ text: one.text, ...stretch.original(one.start, one.end) });
  return {
    ...stretch.original(start, end),
    text,
    tokens: [...tokens],
    temperature,
    averageLogprob: avgLogprob,
    compressionRatio: compressionRatio(text),
    noSpeechProbability: noSpeechProb,
    ...(words && { words: words.map(word) }),
  };
}
