// Takes a recording through the engine: read, cut into stretches of speech, recognised, and reported in order.

import { deflateSync } from "node:zlib";
import type { Segment, Span, Whisper, WhisperJob } from "../../../../ffi/whisper/api.ts";
import { SvcError } from "../../../domain/errors.ts";
import type { Progress } from "../../../domain/request-record.ts";
import { wholeText, type SpeechSegment, type SpokenWord } from "../../../domain/transcription.ts";
import type { JobKey } from "../../process/protocol.ts";
import type { TranscriptionJob } from "../port.ts";
import type { Sound } from "../../../audio/decode/open-sound.ts";
import { SAMPLE_RATE } from "../../../audio/decode/sound-tools.ts";
import { PhraseFinder } from "./phrases.ts";
import { LONGEST_STRETCH, PhraseQueue, type Stretch } from "./stretch.ts";

/** Seconds of the recording between two progress reports. */
const PROGRESS_SECONDS = 1;

/** What the model writes where nobody speaks: a remark in brackets, or notes. */
const REMARK = /^\s*(?:\[[^\]]*\]|\([^)]*\)|\*[^*]*\*|[♪♫🎵\s]+)[\s.]*$/u;

/** Samples of speech that are read ahead of recognition, which is slower than reading. */
const AHEAD = 2 * LONGEST_STRETCH;
/** Samples by which the last stretches may differ, because they consist of whole phrases. */
const UNEVEN = 2 * SAMPLE_RATE;
/** Encoder positions per second of sound, and spare ones that let the model notice the end. */
const POSITIONS_A_SECOND = 50;
const SPARE_POSITIONS = 128;
/** Fewest positions: with fewer the model misrecognises sound. */
const LEAST_POSITIONS = 384;
/**
 * Text of a shortened encoder that is worse than this is recognised again with the full encoder. Not so the end of a
 * longer stretch, whose beginning has been reported by then: whisper.cpp itself tries improbable text again.
 */
const ACCEPTABLE = { averageLogprob: -0.8, compressionRatio: 2.4 };

/** A stretch that is being recognised, or waits for an earlier one to be reported. */
interface Part {
  readonly stretch: Stretch;
  /** Undefined when the stretch is recognised. */
  job: WhisperJob | undefined;
  /** Whether the encoder has only as many positions as the sound needs, from the beginning of the stretch. */
  isShortened: boolean;
  /** How many of the job's segments were processed. */
  reported: number;
  /** Segments that wait to be reported. */
  ready: SpeechSegment[];
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
  /** End of what was recognised, in seconds of the recording; below, the end as last reported. */
  private transcribed = 0;
  private reportedProgress = 0;
  /** Undefined until the recording is open. */
  private sound: Sound | undefined;
  private readonly closing = new AbortController();
  /** Whether the recording was opened, or is being opened: until then it is only a file. */
  opened = false;
  accepted = false;
  started = false;
  /** Number of the turn in which its last stretch was begun. */
  begunTurn = 0;
  /** Number of the turn in which it was last read. */
  readTurn = 0;
  reading = false;

  constructor(
    readonly key: JobKey,
    readonly job: TranscriptionJob,
    /** Size of its file. */
    readonly bytes: number,
    private readonly whisper: Whisper,
    /** Throws SvcError when the recording cannot be decoded, or the signal's reason. */
    private readonly openSound: (signal: AbortSignal) => Promise<Sound>,
    findSpeech: ((samples: Float32Array) => readonly Span[]) | undefined,
  ) {
    this.finder = new PhraseFinder(findSpeech, job.work.detection?.padSeconds);
    this.language = job.work.language;
  }

  get running(): number {
    return this.parts.filter(({ job }) => job !== undefined).length;
  }

  get isOpening(): boolean {
    return this.opened && this.sound === undefined;
  }

  /** Whether its samples are in memory, or are about to be. */
  get holdsSound(): boolean {
    return this.opened && !(this.ended && this.waiting.isEmpty);
  }

  /** Whether reading on would bring the next stretches. */
  get wantsSound(): boolean {
    return this.sound !== undefined && !this.ended && !this.reading && this.waiting.length <= AHEAD;
  }

  /** Returns whether a stretch of up to `longest` samples can begin; others wait until one tells the language. */
  canBegin(longest: number): boolean {
    if (this.language === undefined && this.parts.length > 0) return false;
    return this.ended ? !this.waiting.isEmpty : this.waiting.fills(longest, this.silence);
  }

  /** Returns how many stretches of up to `longest` samples can be recognised at once, as far as is known. */
  stretches(longest: number): number {
    if (!this.canBegin(longest)) return 0;
    if (this.language === undefined) return 1;
    return this.ended ? Math.ceil(this.waiting.length / longest) : 2;
  }

  /** Returns whether at most this many samples of speech are left. */
  endsWithin(samples: number): boolean {
    return this.ended && this.waiting.length <= samples;
  }

  get isOver(): boolean {
    return this.ended && this.waiting.isEmpty && this.parts.length === 0;
  }

  /** Returns the progress, if enough has changed to report it. */
  takeProgress(): Progress | undefined {
    const { finder, ended } = this;
    const isIdle = this.parts.length === 0 && this.waiting.isEmpty;
    const seconds = isIdle ? Math.max(this.transcribed, finder.heard / SAMPLE_RATE) : this.transcribed;
    if (seconds < this.reportedProgress + PROGRESS_SECONDS) return undefined;
    this.reportedProgress = seconds;
    const share = ended ? 1 : this.sound?.share();
    return { done: seconds, ...(share && { of: Math.max(seconds, finder.length / share / SAMPLE_RATE) }) };
  }

  get result() {
    if (!this.hasText) {
      const { work } = this.job;
      // Live speech has no request field.
      const param = "field" in work ? work.field : undefined;
      const what = param === undefined ? "The sound" : `'${param}'`;
      const message = `${what} has no speech, or none that the model understands.`;
      throw new SvcError("no_speech", message, { ...(param !== undefined && { param }) });
    }
    const speechSeconds = this.speechSamples / SAMPLE_RATE;
    return { language: this.language ?? "en", seconds: this.finder.length / SAMPLE_RATE, speechSeconds };
  }

  /** Opens the recording. Throws SvcError when it cannot be decoded, or an abort error when it is closed meanwhile. */
  async open(): Promise<void> {
    this.opened = true;
    const { signal } = this.closing;
    const sound = await this.openSound(signal);
    if (signal.aborted) await sound.windows.return?.();
    signal.throwIfAborted();
    this.sound = sound;
  }

  /** Reads the next samples of an open recording and divides them into phrases. Throws what reading throws. */
  async read(): Promise<void> {
    if (!this.sound) return;
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

  /** Submits the next stretch of at most `longest` samples to the model, on `threads` threads; returns the job. */
  begin(longest: number, threads: number): WhisperJob | undefined {
    const stretch = this.waiting.take(this.evenLength(longest), this.silence);
    if (!stretch) return undefined;
    const { audioContext } = this.whisper.model();
    const needed = Math.ceil(stretch.seconds * POSITIONS_A_SECOND) + SPARE_POSITIONS;
    const positions = Math.max(needed, LEAST_POSITIONS);
    const isShortened = positions < audioContext;
    const job = this.submit(stretch, threads, positions);
    this.parts.push({ stretch, job, isShortened, reported: 0, ready: [] });
    return job;
  }

  /**
   * Checks the state of a job of this recording. Returns segments that can be reported, and the job that continues it,
   * which may be another. Throws when the job failed.
   */
  advance(job: WhisperJob, threads: number): { segments: SpeechSegment[]; next: WhisperJob | undefined } {
    const part = this.parts.find((one) => one.job === job);
    if (!part) return { segments: [], next: undefined };
    const state = this.whisper.state(job);
    if (typeof state !== "string") throw new Error(state.error);
    const isDone = state === "done";
    // Whether a shortened stretch must be recognised again is known only at the end.
    if (part.isShortened && !isDone) return { segments: [], next: job };
    const segments = this.whisper.segments(job, part.reported);
    if (part.isShortened && !isAcceptable(segments)) {
      this.whisper.release(job);
      part.isShortened = false;
      part.job = this.submit(part.stretch, threads);
      return { segments: [], next: part.job };
    }
    part.reported += segments.length;
    const said = segments.filter(({ text }) => text.trim() && !REMARK.test(text));
    part.ready.push(...said.map((one) => reported(one, part)));
    // Neither a rejected result nor sound without words sets the language: there it is a guess.
    if (said.length > 0) this.language ??= this.whisper.language(job);
    if (isDone) {
      this.whisper.release(job);
      part.job = undefined;
      this.hasGivenBack = false;
    }
    return { segments: this.inOrder(), next: part.job };
  }

  /**
   * Requeues the newest stretch if it has over `longest` samples and nothing of it was reported. Returns its job, which
   * has ended. Works once until a stretch is done, because a single phrase may exceed any limit.
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

  /** Stops all work on the recording. */
  close(): void {
    this.closing.abort();
    for (const { job } of this.parts) if (job !== undefined) this.whisper.release(job);
    this.parts.length = 0;
    this.waiting.clear();
    this.ended = true;
    // This takes effect after the window that is being decoded, which the signal ends.
    void this.sound?.windows.return?.().catch(() => {});
  }

  /** The first stretch has as much speech as possible, because it tells the language; others end at a long silence. */
  private get silence(): number | undefined {
    return this.language === undefined ? Infinity : undefined;
  }

  /** Returns the length of equal stretches, when the end is known: of unequal ones, the last would run alone. */
  private evenLength(longest: number): number {
    if (!this.ended || this.language === undefined) return longest;
    const even = this.waiting.length / Math.ceil(this.waiting.length / longest);
    return Math.min(longest, even + UNEVEN);
  }

  /** `audioContext`: how many positions the encoder has; by default, all of the model. */
  private submit(stretch: Stretch, threads: number, audioContext?: number): WhisperJob {
    const { translate, prompt = "", temperature, words } = this.job.work;
    return this.whisper.submit(stretch.samples, {
      translate,
      prompt,
      temperature,
      wordTimes: words,
      ...(audioContext !== undefined && { audioContext, leastAudioContext: LEAST_POSITIONS }),
      threads,
      ...(this.language !== undefined && { language: this.language }),
    });
  }

  /** Returns the segments with no unfinished earlier stretch before them. */
  private inOrder(): SpeechSegment[] {
    const segments: SpeechSegment[] = [];
    for (let [first] = this.parts; first; [first] = this.parts) {
      segments.push(...first.ready.splice(0));
      this.transcribed = Math.max(
        this.transcribed,
        first.job === undefined ? first.stretch.end : (segments.at(-1)?.end ?? 0),
      );
      if (first.job !== undefined) break;
      this.parts.shift();
    }
    this.hasText ||= segments.length > 0;
    return segments;
  }
}

/** Returns whether this is speech; a shortened encoder that cannot make sense of the sound returns no segments. */
function isAcceptable(segments: readonly Segment[]): boolean {
  const isProbable = segments.every(({ avgLogprob }) => avgLogprob >= ACCEPTABLE.averageLogprob);
  // A text may also repeat itself over many segments.
  const texts = [wholeText(segments), ...segments.map(({ text }) => text)];
  const isRepetitive = texts.some((text) => compressionRatio(text) > ACCEPTABLE.compressionRatio);
  return segments.length > 0 && isProbable && !isRepetitive;
}

/** Computed as by Whisper's authors. */
function compressionRatio(text: string): number {
  const bytes = Buffer.from(text);
  return bytes.length / deflateSync(bytes).length;
}

/** Returns a segment with the recording's times. */
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
