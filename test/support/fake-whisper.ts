// whisper.cpp in memory. A job ends when a test says so, with the segments that the test provides.

import type { JobOptions, Segment, Whisper, WhisperJob, WhisperState } from "../../ffi/whisper/api.ts";

interface FakeJob {
  readonly samples: number;
  readonly options: Partial<JobOptions>;
  state: WhisperState;
  segments: Segment[];
  language: string | undefined;
  told: boolean;
}

export class FakeWhisper implements Partial<Whisper> {
  /** All jobs ever submitted; job number n is at index n - 1. */
  readonly submitted: FakeJob[] = [];
  readonly released = new Set<number>();
  languages: readonly string[] = ["en", "de"];

  model() {
    const { languages } = this;
    return { type: "base", bytes: 1, languages, device: "CPU", audioContext: 1500 };
  }

  submit(samples: Float32Array, options: Partial<JobOptions> = {}): WhisperJob {
    const job = { samples: samples.length, options, state: "running", segments: [], told: true } as const;
    this.submitted.push({ ...job, segments: [], language: undefined });
    return this.submitted.length as WhisperJob;
  }

  wait(): WhisperJob | undefined {
    const at = this.submitted.findIndex((job, number) => !job.told && !this.released.has(number + 1));
    const job = this.submitted[at];
    if (!job) return undefined;
    job.told = true;
    return (at + 1) as WhisperJob;
  }

  state(job: WhisperJob): WhisperState {
    return this.submitted[job - 1]?.state ?? { error: "no such job", code: "failed" };
  }

  segments(job: WhisperJob, from: number): Segment[] {
    return this.submitted[job - 1]?.segments.slice(from) ?? [];
  }

  language(job: WhisperJob): string | undefined {
    return this.submitted[job - 1]?.language;
  }

  release(job: WhisperJob): void {
    this.released.add(job);
  }

  /** Numbers of the jobs that are running. */
  get open(): number[] {
    return this.submitted.flatMap(({ state }, at) => (state === "running" && !this.released.has(at + 1) ? at + 1 : []));
  }

  /** Gives a job one new segment for each text, and ends the job unless `done` is false. */
  tell(number: number, texts: readonly string[], { done = true, avgLogprob = -0.2, code = "en" } = {}): void {
    const job = this.submitted[number - 1];
    if (!job) throw new Error(`no job ${number}`);
    const segment = (text: string, at: number): Segment => ({
      start: at,
      end: at + 1,
      text,
      tokens: [at],
      temperature: 0,
      avgLogprob,
      noSpeechProb: 0,
    });
    job.segments = [...job.segments, ...texts.map(segment)];
    job.language = code;
    if (done) job.state = "done";
    job.told = false;
  }
}
