// Divides a stream into utterances, and these into pieces for recognition. A long utterance is cut at its speaker's
// pauses, so that early text appears while it continues and little is left to do at its end.

import { SvcError } from "../../domain/errors.ts";
import { newItemId } from "../../domain/ids.ts";
import { USUAL_TURNS, type LiveEvent, type LiveSettings } from "../../domain/live.ts";
import type { UtteranceQueue } from "./utterance-queue.ts";
import type { SoundBuffer } from "./sound-buffer.ts";
import type { SoundClock } from "./sound-clock.ts";
import { SpeechFinder } from "./speech-finder.ts";
import { Utterance } from "./utterance.ts";

/** Limits for pieces, in seconds. */
const PIECE = {
  /** From this length on, a piece is cut at the next pause of `pause` seconds. */
  enough: 8,
  pause: 0.3,
  /** The model processes 30 seconds at a time. Without a pause, the cut is where speech is least likely after `late`. */
  longest: 28,
  late: 20,
};
/** Seconds of the silence after speech that are kept, because a last sound fades. */
const TAIL_SECONDS = 0.2;
/** Minimum seconds of sound to commit, as in OpenAI's API. */
const LEAST_SECONDS = 0.1;
/** Seconds after which the next utterance begins in continuous speech; shortly before, it begins in a pause. */
export const LONGEST_UTTERANCE_SECONDS = 300;
/** Frames that may be needed again: those in which speech is found, and one for continuity of the sound. */
const FRAMES_BACK = 5;

interface TurnsDeps {
  readonly buffer: SoundBuffer;
  readonly clock: SoundClock;
  readonly utterances: Pick<UtteranceQueue, "add" | "drop">;
  readonly emit: (event: LiveEvent) => void;
}

/** Speech without a silence long enough to end it. */
interface Phrase {
  /** Position where the part begins that is in no piece yet. */
  from: number;
  /** Position of the middle of its last pause. */
  pause: number | undefined;
  /** Position of the middle of the late frame in which speech is least likely, and its probability. */
  lull: { readonly at: number; readonly probability: number } | undefined;
}

export class TurnDetector {
  /** Position behind the last processed or skipped frame. */
  heard = 0;
  private readonly finder = new SpeechFinder();
  private phrase: Phrase | undefined;
  /** Sound of the phrases of the next piece. */
  private parts: Uint8Array[] = [];
  private partBytes = 0;
  private utterance: Utterance | undefined;
  /** Position where the utterance begins, or where the next one may begin. */
  private begin = 0;
  /** Position of the first speech of the utterance; `begin` while there is none. */
  private speech = 0;
  /** Position before which all sound is in a piece or was skipped. */
  private taken = 0;
  private previous: string | undefined;

  constructor(private readonly deps: TurnsDeps) {}

  /** Whether there is speech since the last utterance. */
  get hasSpeech(): boolean {
    return this.utterance !== undefined;
  }

  /** Returns the position before which sound is no longer needed. */
  needed({ turns }: LiveSettings): number {
    const { clock } = this.deps;
    const { prefixMs } = turns ?? USUAL_TURNS;
    const back = this.heard - clock.bytes(prefixMs / 1000) - FRAMES_BACK * clock.frame;
    return Math.min(this.phrase?.from ?? back, back);
  }

  /** Processes the next frame. */
  hear(probability: number, settings: LiveSettings): void {
    const { clock } = this.deps;
    const { turns } = settings;
    const { threshold, prefixMs, silenceMs } = turns ?? USUAL_TURNS;
    this.finder.push(probability, this.heard, threshold);
    this.heard += clock.frame;
    const { since } = this.finder;
    if (since !== undefined && !this.phrase) {
      this.beginPhrase(Math.max(this.taken, since - clock.bytes(prefixMs / 1000)), turns !== null);
    }
    if (this.phrase) this.goOn(this.phrase, probability, settings, clock.bytes(silenceMs / 1000));
    if (this.heard - this.speech >= clock.bytes(LONGEST_UTTERANCE_SECONDS)) this.cutOff(settings);
  }

  /**
   * Ends the utterance at the client's request, at most a frame after the last processed one. Throws SvcError
   * `input_audio_buffer_commit_empty`.
   */
  commit(place: number, settings: LiveSettings): void {
    const { clock } = this.deps;
    const ms = clock.ms(place - this.begin);
    if (ms < LEAST_SECONDS * 1000) {
      const message = `There must be at least ${LEAST_SECONDS * 1000} ms of sound in the buffer; it has ${ms} ms.`;
      throw new SvcError("input_audio_buffer_commit_empty", message);
    }
    this.heard = place;
    this.end(settings);
  }

  /** Discards the speech since the last utterance. */
  clear(place: number): void {
    if (this.utterance) this.deps.utterances.drop(this.utterance);
    this.heard = place;
    this.restart();
    this.deps.emit({ type: "cleared" });
  }

  /** Ends the current utterance, because no more sound follows. */
  finish(settings: LiveSettings): void {
    if (this.utterance) this.end(settings);
  }

  private beginPhrase(from: number, announced: boolean): void {
    this.phrase = { from, pause: undefined, lull: undefined };
    if (this.utterance) return;
    const { emit, clock } = this.deps;
    this.utterance = new Utterance(newItemId("item"), emit);
    this.speech = from;
    if (!announced) return;
    this.begin = from;
    emit({ type: "speech-started", item: this.utterance.id, atMs: clock.ms(from) });
    this.utterance.announce();
  }

  private goOn(phrase: Phrase, probability: number, settings: LiveSettings, silence: number): void {
    const { clock } = this.deps;
    const { quietSince } = this.finder;
    const pause = quietSince === undefined ? 0 : this.heard - quietSince;
    const middle = this.heard - clock.bytes(clock.seconds(pause) / 2);
    if (quietSince !== undefined && pause >= silence) return this.endPhrase(settings);
    // The rest of a pause in which a piece was cut is not a new pause.
    const isPause = pause >= clock.bytes(PIECE.pause) && (quietSince ?? 0) > phrase.from;
    // Later there may be no pause before the utterance is too long.
    const isLate = this.heard - this.speech >= clock.bytes(LONGEST_UTTERANCE_SECONDS - PIECE.longest);
    if (isPause && isLate) return this.cutOff(settings);
    if (isPause) phrase.pause = middle;
    const length = this.partBytes + this.heard - phrase.from;
    if (length >= clock.bytes(PIECE.late) && probability <= (phrase.lull?.probability ?? 1)) {
      phrase.lull = { at: this.heard - clock.bytes(clock.seconds(clock.frame) / 2), probability };
    }
    if (isPause && length >= clock.bytes(PIECE.enough)) {
      // It is in the pause or before it.
      phrase.lull = undefined;
      this.cut(phrase, middle, settings);
    } else if (length >= clock.bytes(PIECE.longest))
      this.cut(phrase, phrase.pause ?? phrase.lull?.at ?? this.heard, settings);
  }

  private endPhrase(settings: LiveSettings): void {
    this.takePhrase();
    this.finder.reset();
    if (settings.turns === null) {
      if (this.partBytes >= this.deps.clock.bytes(PIECE.enough)) this.handOver(settings);
      return;
    }
    this.end(settings);
  }

  /** Ends an utterance that is too long; speech continues in the next one. */
  private cutOff(settings: LiveSettings): void {
    if (!this.utterance) {
      // There was no speech for that long.
      this.begin = this.speech = this.heard;
      return;
    }
    this.end(settings);
  }

  private end(settings: LiveSettings): void {
    const { emit, clock } = this.deps;
    this.takePhrase();
    // If speech began while turn detection was off, the client does not know the utterance.
    if (this.utterance?.isKnown) emit({ type: "speech-stopped", item: this.utterance.id, atMs: clock.ms(this.heard) });
    const utterance = (this.utterance ??= new Utterance(newItemId("item"), emit));
    this.handOver(settings);
    emit({ type: "committed", item: utterance.id, previous: this.previous });
    this.previous = utterance.id;
    utterance.commit(clock.seconds(this.heard - this.begin));
    this.restart();
  }

  private restart(): void {
    this.phrase = this.utterance = undefined;
    this.parts = [];
    this.partBytes = 0;
    this.begin = this.speech = this.taken = this.heard;
    this.finder.reset();
  }

  /** Adds the phrase so far to the next piece. */
  private takePhrase(): void {
    const { phrase, heard } = this;
    if (!phrase) return;
    const quiet = this.finder.quietSince ?? heard;
    // After a cut there may be only the rest of the pause.
    if (quiet > phrase.from) this.take(phrase.from, Math.min(heard, quiet + this.deps.clock.bytes(TAIL_SECONDS)));
    this.phrase = undefined;
  }

  private cut(phrase: Phrase, at: number, settings: LiveSettings): void {
    this.take(phrase.from, at);
    phrase.from = at;
    phrase.pause = undefined;
    // After a cut at an early pause, the next piece may have to end there.
    if (phrase.lull && phrase.lull.at <= at) phrase.lull = undefined;
    this.handOver(settings);
  }

  private take(from: number, to: number): void {
    const bytes = this.deps.buffer.slice(from, to);
    this.parts.push(bytes);
    this.partBytes += bytes.length;
    this.taken = to;
  }

  /** Queues the piece for recognition, if there is one. */
  private handOver(settings: LiveSettings): void {
    const { utterance, parts } = this;
    if (!utterance || parts.length === 0) return;
    const sound = { format: settings.format, bytes: Buffer.concat(parts) };
    this.deps.utterances.add({ utterance, sound, settings });
    this.parts = [];
    this.partBytes = 0;
  }
}
