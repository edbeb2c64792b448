// A transcription engine in memory, for tests of everything above its port. It returns segments written by a test.

import type { Progress } from "../../src/domain/request-record.ts";
import type {
  Heard,
  ListeningWork,
  SpeechSegment,
  TranscriptionEvent,
  TranscriptionWork,
  UtteranceWork,
} from "../../src/domain/transcription.ts";
import { FRAME_SECONDS } from "../../src/domain/transcription.ts";
import type { TranscriptionJob, TranscriptionPort, TranscriptionStatus } from "../../src/engine/transcription/port.ts";
import { FakeEngine } from "./fake-engine.ts";

const spoken: readonly SpeechSegment[] = [
  {
    start: 0.32,
    end: 2.5,
    text: " Hello there.",
    tokens: [2425, 456, 13],
    averageLogprob: -0.25,
    compressionRatio: 0.6,
    noSpeechProbability: 0.01,
    temperature: 0,
    words: [
      { text: "Hello", start: 0.32, end: 0.9 },
      { text: "there.", start: 1, end: 2.5 },
    ],
  },
  {
    start: 3661.004,
    end: 3662,
    text: " A <b> & so on.",
    tokens: [316, 293],
    averageLogprob: -0.5,
    compressionRatio: 2.5,
    noSpeechProbability: 0.5,
    // As of the model, in which it is a number of 32 bits.
    temperature: Math.fround(0.2),
    words: [{ text: "A", start: 3661.004, end: 3662 }],
  },
];

export class FakeTranscriber extends FakeEngine implements TranscriptionPort {
  /** The requests received, with the content of the recording, in order. */
  readonly asked: (TranscriptionWork & { readonly content: string })[] = [];
  /** Requests with an utterance instead of a recording, in order. */
  readonly utterances: UtteranceWork[] = [];
  /** The client of each request, in order. */
  readonly clients: (string | undefined)[] = [];
  detectsSpeech = true;
  translates = true;
  /** Pieces of streams passed to `listen`, in order. */
  readonly heard: ListeningWork[] = [];
  /** `listen` waits until the test settles this promise. */
  ear: Promise<unknown> = Promise.resolve();
  /** The jobs as received, in order. */
  readonly jobs: TranscriptionJob[] = [];
  segments = spoken;
  /** Progress to emit before the segments. */
  progress: Progress | undefined;
  /** How many segments the consumer has taken. */
  told = 0;
  /** Thrown instead of accepting a request. */
  refusal: Error | undefined;
  /** The same for the next jobs, one error each; used before `refusal`. */
  refusals: Error[] = [];
  /** Thrown after accepting a request, as for a recording without speech. */
  failure: Error | undefined;

  status(): TranscriptionStatus {
    return this.plain;
  }

  async *run(job: TranscriptionJob, signal: AbortSignal): AsyncGenerator<TranscriptionEvent, void, void> {
    const { work, client } = job;
    this.state = "ready";
    this.jobs.push(job);
    this.clients.push(client);
    if ("sound" in work) this.utterances.push(work);
    else this.asked.push({ ...work, content: await Bun.file(work.path).text() });
    const refusal = this.refusals.shift() ?? this.refusal;
    if (refusal) throw refusal;
    yield { type: "accepted" };
    yield { type: "started" };
    if (this.failure) throw this.failure;
    if (this.progress) yield { type: "progress", progress: { ...this.progress } };
    for (const segment of this.segments) {
      yield { type: "segment", segment };
      this.told++;
      await this.opened(signal);
    }
    signal.throwIfAborted();
    yield { type: "result", result: { language: work.language ?? "en", seconds: 3662.5, speechSeconds: 3.2 } };
  }

  /** Reports speech in each frame that has a nonzero byte in its 16-bit samples. */
  async listen(work: ListeningWork, signal: AbortSignal): Promise<Heard> {
    this.heard.push(work);
    await this.ear;
    signal.throwIfAborted();
    const { bytes, format } = work.sound;
    const frame = format.rate * FRAME_SECONDS * 2;
    const speech = Float32Array.from({ length: bytes.length / frame - work.known }, (_, at) => {
      const from = (work.known + at) * frame;
      return bytes.subarray(from, from + frame).some((byte) => byte !== 0) ? 0.9 : 0.02;
    });
    return { speech, memory: work.memory ?? new Float32Array(1) };
  }
}
