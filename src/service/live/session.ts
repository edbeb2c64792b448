// A live session: takes sound and commands in order, detects speech in the sound, and ends itself at its limits.

import type { Timers } from "../../domain/clock.ts";
import { fieldError, SvcError, typedError } from "../../domain/errors.ts";
import type { LiveCommand, LiveEnd, LiveEvent, LiveSettings } from "../../domain/live.ts";
import type { RequestOrigin } from "../../domain/request-origin.ts";
import { readBase64 } from "../../media/inline.ts";
import { Refusal } from "../../media/refusal.ts";
import type { TranscriptionService } from "../transcriptions.ts";
import { UtteranceQueue } from "./utterance-queue.ts";
import { changed } from "./settings.ts";
import { SoundBuffer } from "./sound-buffer.ts";
import { SoundClock } from "./sound-clock.ts";
import { TurnDetector } from "./turn-detector.ts";

/** Maximum seconds of sound that wait to become text. */
export const BACKLOG_SECONDS = 300;
/** Seconds of sound to process per detector call, which takes about a hundredth of a second. */
const LISTENING_SECONDS = 4;
/** Milliseconds without an event from or to the client, and without work on its sound, after which a session ends. */
export const IDLE_MS = 300_000;
/** Maximum number of commands that wait for earlier sound to be processed. */
const MOST_COMMANDS = 1000;

export interface LiveListener {
  readonly emit: (event: LiveEvent) => void;
  /** Called once, at the end; no events follow. */
  readonly onEnd: (how: LiveEnd) => void;
  /** Called with an unexpected failure. */
  readonly onUnexpected: (error: unknown) => void;
}

interface LiveSessionDeps extends LiveListener {
  readonly transcriptions: Pick<TranscriptionService, "transcribeSpeech" | "listen" | "model">;
  readonly clock: Timers;
  /** Maximum seconds of sound in the session. */
  readonly maxSeconds: number;
  readonly origin: RequestOrigin;
  readonly settings: LiveSettings;
}

interface Queued {
  readonly command: Exclude<LiveCommand, { readonly type: "append" }>;
  readonly cause: string | undefined;
  /** Position in the sound at which the command arrived, in bytes. */
  readonly place: number;
}

export class LiveSession {
  /** Resolves when the session has ended. */
  readonly ended: Promise<void>;
  private settings: LiveSettings;
  private readonly abort = new AbortController();
  private readonly buffer = new SoundBuffer();
  private readonly commands: Queued[] = [];
  private readonly utterances: UtteranceQueue;
  private time: SoundClock;
  private turns: TurnDetector;
  private memory: Float32Array | undefined;
  /** When the last event came from the client or was sent to it, in milliseconds of the clock. */
  lastAt: number;
  private readonly timers = new Set<() => void>();
  private finishing: LiveEnd | undefined;
  private isListening = false;
  private wake: () => void = () => {};

  constructor(private readonly deps: LiveSessionDeps) {
    const { settings, clock, origin } = deps;
    this.settings = settings;
    this.utterances = new UtteranceQueue({ ...deps, signal: this.abort.signal });
    this.time = new SoundClock(settings.format);
    this.turns = this.newDetector();
    this.lastAt = clock.now();
    this.expectSomething(IDLE_MS);
    if (origin.deadline !== undefined) this.after(origin.deadline - clock.wall(), () => this.fail(tooLate(), "limit"));
    this.ended = this.run();
  }

  /** Seconds of sound received. */
  get seconds(): number {
    return this.time.seconds(this.buffer.end);
  }

  /** Tokens of all text so far. */
  get tokens(): number {
    return this.utterances.tokens;
  }

  /** Whether it may have speech that is not text yet. */
  get hasSpeech(): boolean {
    return this.isWorking || this.turns.hasSpeech || this.framesTo(this.buffer.end) > 0;
  }

  /** Sends the client the `created` event. */
  begin(): void {
    this.emit({ type: "created", settings: this.settings });
  }

  /**
   * Handles a command of the client; `cause` is the client's id for it. Throws SvcError about a command that cannot be
   * accepted (`invalid_value`, `rate_limit_exceeded`); the session continues.
   */
  handle(command: LiveCommand, cause?: string): void {
    if (this.isOver || this.finishing) return;
    this.lastAt = this.deps.clock.now();
    if (command.type === "append") this.append(command.audio);
    else this.take({ command, cause, place: this.buffer.end });
    this.wake();
  }

  /** Accepts no more commands, recognises the sound received so far, and ends. */
  finish(how: LiveEnd, error?: SvcError): void {
    if (this.isOver || this.finishing) return;
    this.finishing = how;
    if (error) this.emit({ type: "error", error });
    this.wake();
  }

  /** Sends the client the error and ends at once. */
  fail(error: SvcError, how: LiveEnd): void {
    this.emit({ type: "error", error });
    this.end(how);
  }

  /** Ends at once without an event, because the client is gone. */
  close(): void {
    this.end("closed");
  }

  private get isOver(): boolean {
    return this.abort.signal.aborted;
  }

  /** Whether the client may wait for what it has sent. */
  private get isWorking(): boolean {
    return this.isListening || this.utterances.waitingBytes > 0 || this.finishing !== undefined;
  }

  private take(queued: Queued): void {
    // Executed at once, because the next sound may be in the format that the command sets.
    if (this.commands.length === 0 && !this.isListening && this.framesTo(queued.place) === 0) this.execute(queued);
    else if (this.commands.length < MOST_COMMANDS) this.commands.push(queued);
    else
      throw new SvcError(
        "rate_limit_exceeded",
        `At most ${MOST_COMMANDS} events may wait for earlier sound to be processed.`,
      );
  }

  private append(audio: string): void {
    const { maxSeconds } = this.deps;
    const bytes = decoded(audio, this.time.bytes(BACKLOG_SECONDS));
    const { sample } = this.time;
    if (bytes.length % sample !== 0) {
      throw faulty(`have whole samples of ${sample} bytes; got ${bytes.length} bytes`);
    }
    const waiting = this.buffer.end - this.turns.heard + this.utterances.waitingBytes;
    if (waiting + bytes.length > this.time.bytes(BACKLOG_SECONDS)) {
      const message = `At most ${BACKLOG_SECONDS} s of sound may wait to be recognised: send it no faster than it is spoken.`;
      throw new SvcError("rate_limit_exceeded", message, { param: "audio" });
    }
    if (this.time.seconds(this.buffer.end + bytes.length) > maxSeconds) {
      const minutes = maxSeconds / 60;
      const message = `A session may have ${minutes} minutes of sound (--max-audio-minutes): it ends here.`;
      this.finish("limit");
      throw new SvcError("invalid_value", message, { param: "audio" });
    }
    this.buffer.append(bytes);
  }

  private async run(): Promise<void> {
    try {
      while (!this.isOver) await this.step();
    } catch (error) {
      if (this.isOver) return;
      this.fail(typedError(error, this.deps.onUnexpected), "failed");
    }
  }

  /** Processes the sound before the next command, or executes the command. */
  private async step(): Promise<void> {
    const [next] = this.commands;
    const frames = next?.command.type === "clear" ? 0 : this.framesTo(next?.place ?? this.buffer.end);
    if (frames > 0) return this.listen(frames);
    if (next) {
      this.commands.shift();
      return this.execute(next);
    }
    if (!this.finishing) return new Promise((resolve) => (this.wake = resolve));
    this.turns.finish(this.settings);
    await this.utterances.idle;
    this.end(this.finishing);
  }

  /** Returns the number of frames to process before that position, a few seconds at most. */
  private framesTo(place: number): number {
    const { time, turns } = this;
    return Math.floor(Math.min(place - turns.heard, time.bytes(LISTENING_SECONDS)) / time.frame);
  }

  private async listen(frames: number): Promise<void> {
    const { heard } = this.turns;
    const { frame } = this.time;
    const known = heard >= frame ? 1 : 0;
    const bytes = this.buffer.slice(heard - known * frame, heard + frames * frame);
    const sound = { format: this.settings.format, bytes };
    const work = { sound, known, ...(this.memory && { memory: this.memory }) };
    this.isListening = true;
    const { speech, memory } = await this.deps.transcriptions.listen(this.settings.model, work, this.abort.signal);
    this.isListening = false;
    if (this.isOver) return;
    this.memory = memory;
    for (let at = 0; at < frames; at++) this.turns.hear(speech[at] ?? 0, this.settings);
    this.buffer.dropBefore(this.turns.needed(this.settings));
  }

  private execute({ command, cause, place }: Queued): void {
    try {
      if (command.type === "commit") this.turns.commit(place, this.settings);
      else if (command.type === "clear") this.turns.clear(place);
      else {
        this.settings = changed(this.settings, command.changes, this.deps.transcriptions, place > 0);
        if (place === 0) {
          this.time = new SoundClock(this.settings.format);
          this.turns = this.newDetector();
        }
        this.emit({ type: "updated", settings: this.settings });
      }
    } catch (error) {
      if (!(error instanceof SvcError)) throw error;
      this.emit({ type: "error", error, ...(cause !== undefined && { cause }) });
    }
  }

  private newDetector(): TurnDetector {
    const { buffer, time: clock, utterances } = this;
    return new TurnDetector({ buffer, clock, utterances, emit: (event) => this.emit(event) });
  }

  private emit(event: LiveEvent): void {
    if (this.isOver) return;
    this.lastAt = this.deps.clock.now();
    this.deps.emit(event);
  }

  private expectSomething(ms: number): void {
    this.after(ms, () => {
      const left = this.isWorking ? IDLE_MS : this.lastAt + IDLE_MS - this.deps.clock.now();
      if (left > 0) return this.expectSomething(left);
      this.fail(
        new SvcError("request_timeout", `Nothing was received for ${IDLE_MS / 1000} s: the session ends.`),
        "limit",
      );
    });
  }

  private after(ms: number, act: () => void): void {
    const cancel = this.deps.clock.after(Math.max(0, ms), () => {
      this.timers.delete(cancel);
      act();
    });
    this.timers.add(cancel);
  }

  private end(how: LiveEnd): void {
    if (this.isOver) return;
    for (const cancel of this.timers) cancel();
    this.abort.abort();
    this.wake();
    this.deps.onEnd(how);
  }
}

const faulty = (rule: string) => fieldError("invalid_value", "audio", `must ${rule}`);
const tooLate = () => new SvcError("deadline_exceeded", "The deadline of X-Svc-Deadline-Ms passed: the session ends.");

function decoded(audio: string, limit: number): Uint8Array {
  try {
    return readBase64(audio, limit);
  } catch (error) {
    throw error instanceof Refusal ? error.at("audio") : error;
  }
}
