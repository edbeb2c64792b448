// What services may request of a source of voices: a model or a program of the host, in a process of its own.

import type { SpeechEvent, SpeechWork, Voice } from "../../domain/speech.ts";
import type { ModelStatus, Unloadable } from "../../domain/process-status.ts";
import type { EngineJob } from "../../domain/request-origin.ts";

export interface SpeechStatus extends ModelStatus {
  /** `program`: a program of the host; voices of models are preferred to its own. */
  readonly origin: "model" | "program";
}

/** Clients take turns, one sentence each. */
export type SpeechJob = EngineJob<SpeechWork>;

export interface SpeechPort extends Unloadable {
  status(): SpeechStatus;
  /** Returns its voices, the default voice of a language first; empty when a program could not list them. */
  voices(): Promise<readonly Voice[]>;
  /**
   * Speaks a text sentence by sentence, after loading the model if needed. Throws SvcError (`invalid_value`,
   * `engine_unavailable`, `engine_crashed`, `shutting_down`), or the signal's reason after an abort: what is not spoken
   * by then is dropped.
   */
  run(job: SpeechJob, signal: AbortSignal): AsyncIterable<SpeechEvent>;
}
