// Runs a source of voices in a process of its own.

import type { SpeechEvent, Voice } from "../../domain/speech.ts";
import { LazyEngine, type KnownModel, type LazyEngineOptions } from "../process/lazy-engine.ts";
import type { SpeechJob, SpeechPort, SpeechStatus } from "./port.ts";
import type { SpeakerOptions } from "./protocol.ts";

interface KnownSpeaker extends KnownModel {
  readonly origin: SpeechStatus["origin"];
  readonly voices: () => Promise<readonly Voice[]>;
}

/** Unread events, each of at most four seconds of sound: 6 MB without compression. */
const MOST_UNREAD = 32;

export type SpeechEngineOptions = LazyEngineOptions<SpeakerOptions, KnownSpeaker>;

export class SpeechEngine
  extends LazyEngine<SpeakerOptions, KnownSpeaker, undefined, SpeechJob, SpeechEvent>
  implements SpeechPort
{
  constructor(options: SpeechEngineOptions) {
    super("speech", { ...options, mostUnread: MOST_UNREAD });
  }

  override status(): SpeechStatus {
    return { ...super.status(), origin: this.options.model.origin };
  }

  voices(): Promise<readonly Voice[]> {
    return this.options.model.voices();
  }

  run(job: SpeechJob, signal: AbortSignal) {
    return this.runJob(job, signal);
  }
}
