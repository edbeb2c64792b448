// A speech engine in memory, for tests of everything above its port: each sentence is its own text as bytes.

import type { SpeechEvent, SpeechWork, Voice } from "../../src/domain/speech.ts";
import type { SpeechJob, SpeechPort, SpeechStatus } from "../../src/engine/speech/port.ts";

export class FakeSpeaker implements SpeechPort {
  state: SpeechStatus["state"] = "unloaded";
  readonly asked: SpeechWork[] = [];
  known: readonly Voice[] = [
    { id: "heart", name: "Heart", locale: "en-US", gender: "female", quality: "premium" },
    { id: "stone", name: "Stone", locale: "en-GB", gender: "male", quality: "compact", isSlow: true },
  ];
  /** Thrown after the first sentence. */
  failure: Error | undefined;
  /** Settled by a test, sentences behind the first wait for it. */
  gate: Promise<unknown> = Promise.resolve();

  constructor(
    readonly modelId: string,
    readonly origin: SpeechStatus["origin"] = "model",
  ) {}

  status(): SpeechStatus {
    return {
      modelId: this.modelId,
      created: 1_700_000_000,
      origin: this.origin,
      state: this.state,
      restarts: 0,
      running: 0,
      waiting: 0,
      residentBytes: 0,
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
    const { promise: aborted, reject } = Promise.withResolvers<never>();
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    for (const sentence of work.text.split(/(?<=\.) /)) {
      yield { type: "audio", bytes: new TextEncoder().encode(`[${sentence}]`) };
      await Promise.race([this.gate, aborted]);
      if (this.failure) throw this.failure;
    }
    yield { type: "result", result: { seconds: 2.5, phonemes: work.text.length } };
  }

  async stop(): Promise<void> {
    this.state = "stopped";
  }
}
