// What services may request of a source of voices: a model or a program of the host, in a process of its own.

import type { SpeechEvent, SpeechWork, Voice } from "../../domain/speech.ts";
import type { ModelStatus } from "../../domain/process-status.ts";

export interface SpeechStatus extends ModelStatus {
  /** `program`: the host's, which speaks only where it is meant. */
  readonly origin: "model" | "program";
}

export interface SpeechJob {
  readonly work: SpeechWork;
  /** Whose request it is: clients take turns, a sentence each. */
  readonly client?: string | undefined;
}

export interface SpeechPort {
  status(): SpeechStatus;
  /** As what it speaks, the usual voice of a language first; none where a program does not tell. */
  voices(): Promise<readonly Voice[]>;
  /**
   * Says a text, sentence by sentence; loads the model first where that has to be. Throws SvcError (`invalid_value`,
   * `engine_unavailable`, `engine_crashed`, `shutting_down`), or the signal's reason after an abort: what was not said by then
   * is dropped.
   */
  run(job: SpeechJob, signal: AbortSignal): AsyncIterable<SpeechEvent>;
}
