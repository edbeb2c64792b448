// What a transcription engine is started with and answers: the types behind `process/protocol`.

import type { Heard, ListeningWork, TranscriptionEvent, TranscriptionModel } from "../../domain/transcription.ts";
import type { ComputeOptions } from "../process/kind.ts";
import type { FromEngine } from "../process/protocol.ts";
import type { TranscriptionJob } from "./port.ts";

export interface TranscriberOptions extends ComputeOptions {
  readonly modelPath: string;
  /** Of the model that tells speech from everything else; absent: all of a recording is taken for speech. */
  readonly vadPath?: string;
  /** Recordings that are recognised side by side, where there is memory for them. */
  readonly parallel: number;
  /** What each of them takes. */
  readonly stateBytes: number;
  /** Longest recording that is taken. */
  readonly maxSeconds: number;
}

export type TranscriberJob = TranscriptionJob | { readonly listening: ListeningWork };
export type TranscriberEvent = TranscriptionEvent | { readonly type: "heard"; readonly heard: Heard };
export type FromTranscriber = FromEngine<TranscriptionModel, TranscriberEvent>;
