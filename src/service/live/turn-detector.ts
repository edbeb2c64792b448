// From what is heard in a stream to utterances: when they begin and end, and in which pieces they are recognised. A long one is
// cut where its speaker pauses, so that its beginning is text while it goes on, and little is left to do at its end.

import { SvcError } from "../../domain/errors.ts";
import { newItemId } from "../../domain/ids.ts";
import { USUAL_TURNS, type LiveEvent, type LiveSettings } from "../../domain/live.ts";
import type { UtteranceQueue } from "./utterance-queue.ts";
import type { SoundBuffer } from "./sound-buffer.ts";
import type { SoundClock } from "./sound-clock.ts";
import { SpeechFinder } from "./speech-finder.ts";
import { Utterance } from "./utterance.ts";

/** Seconds. */
const PIECE = {
  /** From here on it is cut at the next pause of that length. */
  enough: 8,
  pause: 0.3,
  /** The model hears 30 seconds at once. */
  longest: 28,
};
/** Of the silence behind speech, what still goes with it: a last sound fades. */
const TAIL_SECONDS = 0.2;
/** A shorter buffer is no utterance, by the public convention. */
const LEAST_SECONDS = 0.1;
/** Who speaks on and on is cut off here, and begins the next utterance. */
export const LONGEST_UTTERANCE_SECONDS = 300;
/** Frames that may be needed again: those by which speech is found, and one by which sound follows on. */
const FRAMES_BACK = 5;

interface TurnsDeps {
  readonly buffer: SoundBuffer;
  readonly clock: SoundClock;
  readonly utterances: Pick<UtteranceQueue, "add" | "drop">;
  readonly emit: (event: LiveEvent) => void;
}

/** Speech without a silence that is long enough to end it. */
interface Phrase {
  /** Where its part begins that is in no piece yet. */
  from: number;
  /** In the middle of its last pause. */
  pause: number | undefined;
}

export class TurnDetector {
  private readonly finder = new SpeechFinder();
  private phrase: Phrase | undefined;
  /** Phrases of the next piece. */
  private parts: Uint8Array[] = [];
  private partBytes = 0;
  private utterance: Utterance | undefined;
  /** Where the utterance begins, or the next one may. */
  private begin = 0;
  /** Sound before it is in a piece, or left out. */
  private taken = 0;
  /** Behind what was heard. */
  private place = 0;
  private previous: string | undefined;

  constructor(private readonly deps: TurnsDeps) {}

  /** Behind the last frame that was heard, or the last that was passed over. */
  get heard(): number {
    return this.place;
  }

  /** Sound before it is not needed any more. */
  needed({ turns }: LiveSettings): number {
    const { clock } = this.deps;
    const { prefixMs } = turns ?? USUAL_TURNS;
    const back = this.place - clock.bytes(prefixMs / 1000) - FRAMES_BACK * clock.frame;
    return Math.min(this.phrase?.from ?? back, back);
  }

  /** Takes the next frame. */
  hear(probability: number, settings: LiveSettings): void {
    const { clock } = this.deps;
    const { turns } = settings;
    const { threshold, prefixMs, silenceMs } = turns ?? USUAL_TURNS;
    this.finder.push(probability, this.place, threshold);
    this.place += clock.frame;
    const { since } = this.finder;
    if (since !== undefined && !this.phrase) {
      this.beginPhrase(Math.max(this.taken, since - clock.bytes(prefixMs / 1000)), turns !== null);
    }
    if (this.phrase) this.goOn(this.phrase, settings, clock.bytes(silenceMs / 1000));
    if (this.place - this.begin >= clock.bytes(LONGEST_UTTERANCE_SECONDS)) this.cutOff(settings);
  }

  /**
   * The client says that the utterance ends here, at most a frame behind what was heard. Throws SvcError
   * `input_audio_buffer_commit_empty`.
   */
  commit(place: number, settings: LiveSettings): void {
    const { clock } = this.deps;
    const ms = clock.ms(place - this.begin);
    if (ms < LEAST_SECONDS * 1000) {
      const message = `There must be at least ${LEAST_SECONDS * 1000} ms of sound in the buffer; it has ${ms} ms.`;
      throw new SvcError("input_audio_buffer_commit_empty", message);
    }
    this.place = place;
    this.end(settings);
  }

  /** What was said since the last utterance does not count. */
  clear(place: number): void {
    if (this.utterance) this.deps.utterances.drop(this.utterance);
    this.place = place;
    this.restart();
    this.deps.emit({ type: "cleared" });
  }

  /** Nothing follows: what was said is an utterance. */
  finish(settings: LiveSettings): void {
    if (this.utterance) this.end(settings);
  }

  private beginPhrase(from: number, announced: boolean): void {
    this.phrase = { from, pause: undefined };
    if (this.utterance) return;
    const { emit, clock } = this.deps;
    this.utterance = new Utterance(newItemId("item"), emit);
    if (!announced) return;
    this.begin = from;
    emit({ type: "speech-started", item: this.utterance.id, atMs: clock.ms(from) });
    this.utterance.announce();
  }

  private goOn(phrase: Phrase, settings: LiveSettings, silence: number): void {
    const { clock } = this.deps;
    const { quietSince } = this.finder;
    const pause = quietSince === undefined ? 0 : this.place - quietSince;
    const middle = this.place - clock.bytes(clock.seconds(pause) / 2);
    if (quietSince !== undefined && pause >= silence) return this.endPhrase(settings);
    // The rest of a pause that was cut in is none.
    const isPause = pause >= clock.bytes(PIECE.pause) && (quietSince ?? 0) > phrase.from;
    if (isPause) phrase.pause = middle;
    const length = this.partBytes + this.place - phrase.from;
    if (isPause && length >= clock.bytes(PIECE.enough)) this.cut(phrase, middle, settings);
    else if (length >= clock.bytes(PIECE.longest)) this.cut(phrase, phrase.pause ?? this.place, settings);
  }

  private endPhrase(settings: LiveSettings): void {
    this.takePhrase();
    this.finder.reset();
    if (settings.turns === null) {
      if (this.partBytes >= this.deps.clock.bytes(PIECE.enough)) this.handOver(settings);
      return;
    }
    this.stopped();
    this.end(settings);
  }

  /** An utterance that is too long ends here; speech goes on in the next one. */
  private cutOff(settings: LiveSettings): void {
    if (!this.utterance) {
      // Nobody has said anything for as long.
      this.begin = this.place;
      return;
    }
    if (settings.turns) this.stopped();
    this.end(settings);
  }

  private stopped(): void {
    const { emit, clock } = this.deps;
    if (this.utterance) emit({ type: "speech-stopped", item: this.utterance.id, atMs: clock.ms(this.place) });
  }

  private end(settings: LiveSettings): void {
    const { emit, clock } = this.deps;
    this.takePhrase();
    const utterance = (this.utterance ??= new Utterance(newItemId("item"), emit));
    this.handOver(settings);
    emit({ type: "committed", item: utterance.id, previous: this.previous });
    this.previous = utterance.id;
    utterance.commit(clock.seconds(this.place - this.begin));
    this.restart();
  }

  private restart(): void {
    this.phrase = this.utterance = undefined;
    this.parts = [];
    this.partBytes = 0;
    this.begin = this.taken = this.place;
    this.finder.reset();
  }

  /** The phrase as far as it was heard is for the next piece. */
  private takePhrase(): void {
    const { phrase, place } = this;
    if (!phrase) return;
    const quiet = this.finder.quietSince ?? place;
    // Behind a cut there may be nothing but the rest of the pause.
    if (quiet > phrase.from) this.take(phrase.from, Math.min(place, quiet + this.deps.clock.bytes(TAIL_SECONDS)));
    this.phrase = undefined;
  }

  private cut(phrase: Phrase, at: number, settings: LiveSettings): void {
    this.take(phrase.from, at);
    phrase.from = at;
    phrase.pause = undefined;
    this.handOver(settings);
  }

  private take(from: number, to: number): void {
    const bytes = this.deps.buffer.slice(from, to);
    this.parts.push(bytes);
    this.partBytes += bytes.length;
    this.taken = to;
  }

  /** Has the piece recognised, if there is one. */
  private handOver(settings: LiveSettings): void {
    const { utterance, parts } = this;
    if (!utterance || parts.length === 0) return;
    const sound = { format: settings.format, bytes: Buffer.concat(parts) };
    this.deps.utterances.add({ utterance, sound, settings });
    this.parts = [];
    this.partBytes = 0;
  }
}
