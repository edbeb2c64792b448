// A speech engine in memory, for tests of everything above its port. The sound of a sentence is its text as bytes.

import type { SpeechEvent, SpeechWork, Voice } from "../../src/domain/speech.ts";
import type { SpeechJob, SpeechPort, SpeechStatus } from "../../src/engine/speech/port.ts";
import { FakeEngine } from "./fake-engine.ts";

export class FakeSpeaker extends FakeEngine implements SpeechPort {
  readonly asked: SpeechWork[] = [];
  known: readonly Voice[] = [
    { id: "heart", name: "Heart", locale: "en-US", gender: "female", quality: "premium" },
    { id: "stone", name: "Stone", locale: "en-GB", gender: "male", quality: "compact", isSlow: true },
  ];
  /** Thrown after the first sentence. */
  failure: Error | undefined;

  constructor(
    modelId: string,
    readonly origin: SpeechStatus["origin"] = "model",
  ) {
    super(modelId);
  }

  status(): SpeechStatus {
    return {
      ...this.plain,
      origin: this.origin,
    };
  }

  async voices(): Promise<readonly Voice[]> {
    return this.known;
  }

  async *run({ work }: SpeechJob, signal: AbortSignal): AsyncGenerator<SpeechEvent, void, void> {
    this.state = "ready";
    this.asked.push(work);
    yield { type: "accepted" };
    yield { type: "started" };
    let done = 0;
    for (const sentence of work.text.split(/(?<=\.) /)) {
      yield { type: "audio", bytes: new TextEncoder().encode(`[${sentence}]`) };
      yield { type: "progress", progress: { done: (done += sentence.length), of: work.text.length } };
      await this.opened(signal);
      if (this.failure) throw this.failure;
    }
    yield { type: "result", result: { phonemes: work.text.length } };
  }
}
