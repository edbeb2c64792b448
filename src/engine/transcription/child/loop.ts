// The loop of a transcription engine: recordings are read and cut here, and recognised in parallel on native threads.

import type { Span, Whisper, WhisperJob } from "../../../../ffi/whisper/api.ts";
import { fieldError } from "../../../domain/errors.ts";
import type {
  SpeechDetection,
  SpeechSegment,
  TranscriptionWork,
  UtteranceWork,
} from "../../../domain/transcription.ts";
import { nextTurn } from "../../../domain/next-turn.ts";
import type { JobKey } from "../../process/protocol.ts";
import type { TranscriptionJob } from "../port.ts";
import type { FromTranscriber } from "../protocol.ts";
import type { Sound } from "../../../audio/decode/open-sound.ts";
import { SAMPLE_RATE } from "../../../audio/decode/sound-tools.ts";
import { RecordingWork } from "./recording.ts";
import { sendRefusal } from "../../process/refusal.ts";
import { isSameClient } from "../../process/client-turns.ts";
import { LONGEST_STRETCH } from "./stretch.ts";

/** Most samples of a stretch while other clients may come and would wait for it; a single phrase may be longer. */
const SHORT_STRETCH = 10 * SAMPLE_RATE;
/** Turns after which a client that was not alone is again expected to stay alone. */
const CALM = 16;
/** Milliseconds between two checks of the native threads. */
const POLL_MS = 5;
/** Milliseconds after speech in a live stream during which an utterance may end at any moment. */
const LIVE_MS = 10_000;
/**
 * Recordings that are open at once: so many for each stretch that is recognised in parallel, and so many more that are
 * much smaller than all open ones of their clients, because a few seconds must not wait for the end of hours. An open
 * recording has up to two minutes of samples in memory, and some have an ffmpeg.
 */
const MOST_OPEN = { forEach: 2, more: 16 };
/** A file waits while its client has an open one of less than this many times its bytes. */
const MUCH_SMALLER = 2;

interface LoopOptions {
  /** Stretches that are recognised in parallel. */
  readonly parallel: number;
  /** Threads of all stretches together. */
  readonly threads: number;
  /** Returns the share of the machine that threads other than `own` want at this moment, 0 to 1. */
  readonly othersShare: (own: number) => number;
  /** A monotonic clock, in milliseconds. */
  readonly now: () => number;
  /** Opens a recording. Throws SvcError when it cannot be decoded, or the signal's reason. */
  readonly open: (work: TranscriptionWork | UtteranceWork, signal: AbortSignal) => Promise<Sound>;
  /** Returns the bytes of a recording's file: until it is open, only they tell whether it may be short. */
  readonly sizeOf: (path: string) => number;
  /** Finds speech in recordings; absent: all sound counts as speech. */
  readonly findSpeech?: (samples: Float32Array, detection: SpeechDetection | undefined) => readonly Span[];
}

export class TranscriptionLoop {
  /** In the order of their arrival. */
  private works: RecordingWork[] = [];
  private readonly owners = new Map<WhisperJob, RecordingWork>();
  private turn = 0;
  private liveUntil = -Infinity;
  /** The last turn in which there were several clients. */
  private shared = -CALM;
  /** Whether the last turn went to a short rest ahead of others. */
  private hasJumped = false;
  private wake: () => void = () => {};

  constructor(
    private readonly whisper: Whisper,
    private readonly options: LoopOptions,
    private readonly send: (message: FromTranscriber) => void,
  ) {}

  submit(key: JobKey, job: TranscriptionJob): void {
    const { detection } = job.work;
    // Speech was already detected in an utterance. With the threshold 0, the detector itself would drop short spans.
    const isAllSpeech = "sound" in job.work || detection?.threshold === 0;
    const findSpeech = isAllSpeech ? undefined : this.options.findSpeech;
    const work = new RecordingWork(
      key,
      job,
      "path" in job.work ? this.options.sizeOf(job.work.path) : 0,
      this.whisper,
      (signal) => this.options.open(job.work, signal),
      findSpeech && ((samples) => findSpeech(samples, detection)),
    );
    const mayOpen = this.whoMayOpen();
    this.works.push(work);
    this.attempt(work, () => {
      this.checkLanguage(job);
      this.lookForOthers();
      // Until one that need not wait is known to be a recording, a refusal can have its own status.
      if (mayOpen(work)) void this.open(work);
      else this.accept(work);
    });
  }

  /** Drops a job without a last event: the front process has ended its request, and half a text is of no use. */
  cancel(key: JobKey): void {
    const work = this.works.find((one) => one.key === key);
    if (work) this.remove(work);
  }

  /** Called when someone speaks in a live stream: dictation must not wait for half a minute of a recording. */
  expectUtterance(): void {
    this.liveUntil = this.options.now() + LIVE_MS;
  }

  /** Computes until the process ends. */
  async run(): Promise<never> {
    for (;;) {
      const areOpening = this.works.every(({ isOpening }) => isOpening);
      if (areOpening) await new Promise<void>((resolve) => (this.wake = resolve));
      await (this.step() ? nextTurn() : Bun.sleep(POLL_MS));
    }
  }

  /**
   * Collects what is done, begins what can begin, and reads what is needed next. Returns whether there was anything to
   * do.
   */
  step(): boolean {
    let busy = false;
    for (let job = this.whisper.wait(0); job !== undefined; job = this.whisper.wait(0)) {
      busy = true;
      this.advance(job);
    }
    this.makePlace();
    while (this.owners.size < this.options.parallel) {
      const next = this.nextStretch();
      if (!next) break;
      busy = true;
      this.begin(next);
    }
    const mayOpen = this.whoMayOpen();
    const nearest = this.next("readTurn", (work) => !work.opened && mayOpen(work));
    if (nearest) {
      busy = true;
      void this.open(nearest);
    }
    const reader = this.next("readTurn", ({ wantsSound }) => wantsSound);
    if (reader) {
      busy = true;
      void this.read(reader);
    }
    return busy;
  }

  /**
   * Returns the recording whose stretch is next. Every other turn goes to a short rest, so that a client with a few
   * seconds of sound does not wait until all others had their turns.
   */
  private nextStretch(): RecordingWork | undefined {
    const can = (work: RecordingWork) =>
      work.canBegin(this.longest(work)) && (isUtterance(work) || this.hasPlaceForRecording);
    const first = this.next("begunTurn", can);
    const short = this.hasJumped
      ? undefined
      : this.next("begunTurn", (work) => can(work) && work.endsWithin(SHORT_STRETCH));
    this.hasJumped = short !== undefined && short !== first;
    return short ?? first;
  }

  /**
   * Interrupts one of the whole stretches that were begun while no other client was there, in favour of a few seconds
   * of a client that came since.
   */
  private makePlace(): void {
    if (this.owners.size < this.options.parallel) return;
    const short = this.next("begunTurn", (work) => work.endsWithin(SHORT_STRETCH) && work.canBegin(SHORT_STRETCH));
    if (!short || short.job.background) return;
    // During dictation the place would stay free.
    if (!isUtterance(short) && this.options.now() < this.liveUntil) return;
    const running = [...this.owners.values()].toReversed();
    if (running.some((work) => work === short || isSameClient(work.job, short.job))) return;
    for (const work of running) {
      const job = isUtterance(work) ? undefined : work.giveBack(SHORT_STRETCH);
      if (job !== undefined) return void this.owners.delete(job);
    }
  }

  /** During dictation, recordings leave one of several places free. */
  private get hasPlaceForRecording(): boolean {
    const { parallel, now } = this.options;
    const taken = [...this.owners.values()].filter((work) => !isUtterance(work)).length;
    return parallel === 1 || now() >= this.liveUntil || taken < parallel - 1;
  }

  /** Returns which recordings may be opened now. Utterances are short and wait for nothing. */
  private whoMayOpen(): (work: RecordingWork) => boolean {
    const all = this.works.filter((work) => work.holdsSound && !isUtterance(work));
    // Background work comes last, so it keeps nothing else from being opened.
    const urgent = all.filter(({ job }) => !job.background);
    const smallestOpen = new Map<string, number>();
    for (const { job, bytes } of urgent) {
      if (job.client === undefined) continue;
      smallestOpen.set(job.client, Math.min(bytes, smallestOpen.get(job.client) ?? Infinity));
    }
    const few = MOST_OPEN.forEach * this.options.parallel;
    return (work) => {
      const { background, client } = work.job;
      if (isUtterance(work) || (background ? all : urgent).length < few) return true;
      const own = client === undefined ? undefined : smallestOpen.get(client);
      const isSmall = own === undefined || work.bytes * MUCH_SMALLER <= own;
      return !background && isSmall && urgent.length < few + MOST_OPEN.more;
    };
  }

  private async open(work: RecordingWork): Promise<void> {
    try {
      await work.open();
      this.accept(work);
    } catch (error) {
      this.fail(work, error);
    }
    this.wake();
  }

  private accept(work: RecordingWork): void {
    if (!work.accepted) this.send({ type: "accepted", key: work.key, event: { type: "accepted" } });
    work.accepted = true;
  }

  private checkLanguage({ work: { language, languageField = "language" } }: TranscriptionJob): void {
    const { languages } = this.whisper.model();
    if (language === undefined || languages.includes(language)) return;
    const known = languages.length > 10 ? `${languages.length} languages` : languages.join(", ");
    throw fieldError("invalid_value", languageField, `must be one that the transcription model knows (${known})`);
  }

  /**
   * Returns one of the recordings for which `can` holds: of the client with the least running work, or else the one
   * whose turn was longest ago. Background work comes last.
   */
  private next(turn: "begunTurn" | "readTurn", can: (work: RecordingWork) => boolean): RecordingWork | undefined {
    const works = this.works.filter(can);
    if (works.length < 2) return works[0];
    // Once for each client, not for each recording: hundreds may wait, and this is called every few milliseconds.
    const clients = new Map<string | RecordingWork, { running: number; last: number }>();
    // A recording without a client shares it with no other.
    const clientOf = (work: RecordingWork) => clients.getOrInsert(work.job.client ?? work, { running: 0, last: 0 });
    for (const work of this.works) {
      const client = clientOf(work);
      client.running += work.running;
      client.last = Math.max(client.last, work[turn]);
    }
    const claims = works.map((work) => ({ work, ...clientOf(work) }));
    const rank = ({ work }: { readonly work: RecordingWork }) => Number(work.job.background === true);
    return claims.toSorted(
      (a, b) => rank(a) - rank(b) || a.running - b.running || a.last - b.last || a.work[turn] - b.work[turn],
    )[0]?.work;
  }

  private lookForOthers(): void {
    const [first, ...others] = this.works;
    if (first && others.some((other) => !isSameClient(first.job, other.job))) this.shared = this.turn;
  }

  private begin(work: RecordingWork): void {
    this.attempt(work, () => {
      this.tellStarted(work);
      const job = work.begin(this.longest(work), this.threads());
      if (job !== undefined) this.owners.set(job, work);
      work.begunTurn = ++this.turn;
      this.lookForOthers();
    });
  }

  /**
   * Returns the most samples of a stretch. It is short for background work, while other clients are or recently were
   * there, and for the first stretch of a client that reads the text as it comes.
   */
  private longest({ job, begunTurn }: RecordingWork): number {
    const isFirst = begunTurn === 0;
    const isShort = job.background || (job.work.early && isFirst) || this.turn < this.shared + CALM;
    return isShort ? SHORT_STRETCH : LONGEST_STRETCH;
  }

  /** Stretches that run in parallel share the threads that other programs leave free. */
  private threads(): number {
    const { parallel, threads, othersShare } = this.options;
    const waiting = this.works.reduce((sum, work) => sum + work.stretches(this.longest(work)), 0);
    const sharing = Math.min(parallel, this.owners.size + Math.max(waiting, 1));
    // The most threads that may be this engine's: where it runs fewer, the difference counts as free.
    const own = 1 + (this.owners.size > 0 ? threads : 0);
    return Math.max(1, Math.floor((threads * (1 - othersShare(own))) / sharing));
  }

  private advance(job: WhisperJob): void {
    const work = this.owners.get(job);
    if (!work) return;
    this.attempt(work, () => {
      const { segments, next } = work.advance(job, this.threads());
      if (next !== job) {
        this.owners.delete(job);
        if (next !== undefined) this.owners.set(next, work);
      }
      this.tell(work, segments);
      this.finish(work);
    });
  }

  private tellStarted(work: RecordingWork): void {
    if (!work.started) this.send({ type: "started", keys: [work.key] });
    work.started = true;
  }

  private async read(work: RecordingWork): Promise<void> {
    // A place is free, so it is not queued: silence at its start, perhaps for hours, must not count as waiting.
    if (this.owners.size < this.options.parallel) this.tellStarted(work);
    work.readTurn = ++this.turn;
    try {
      await work.read();
      if (!this.works.includes(work)) return;
      this.tell(work, []);
      this.finish(work);
    } catch (error) {
      this.fail(work, error);
    }
  }

  private tell(work: RecordingWork, segments: readonly SpeechSegment[]): void {
    const progress = work.takeProgress();
    const events = [
      ...segments.map((segment) => ({ type: "segment", segment }) as const),
      ...(progress ? [{ type: "progress", progress } as const] : []),
    ];
    if (events.length > 0) this.send({ type: "events", outputs: [{ key: work.key, events }], finished: [] });
  }

  private finish(work: RecordingWork): void {
    if (!work.isOver) return;
    const { result, key } = work;
    this.remove(work);
    this.send({ type: "events", outputs: [], finished: [{ key, event: { type: "result", result } }] });
  }

  private attempt(work: RecordingWork, action: () => void): void {
    try {
      action();
    } catch (error) {
      this.fail(work, error);
    }
  }

  /** Refuses a recording, unless nobody waits for it any more. */
  private fail(work: RecordingWork, error: unknown): void {
    if (!this.works.includes(work)) return;
    this.remove(work);
    sendRefusal(this.send, work.key, error, "The model could not recognise this recording; the log has the details.");
  }

  private remove(work: RecordingWork): void {
    this.works = this.works.filter((one) => one !== work);
    for (const [job, owner] of this.owners) if (owner === work) this.owners.delete(job);
    work.close();
    this.wake();
  }
}

const isUtterance = ({ job }: RecordingWork): boolean => "sound" in job.work;
