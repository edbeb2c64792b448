// What a transcription engine is started with and answers: the types behind `process/protocol`.

import type { TranscriptionEvent, TranscriptionModel } from "../../domain/transcription.ts";
import type { ComputeOptions } from "../process/kind.ts";
import type { FromEngine } from "../process/protocol.ts";

export interface RecogniserOptions extends ComputeOptions {
  readonly modelPath: string;
  /** Of the model that tells speech from everything else; absent: all of a recording is taken for speech. */
  readonly vadPath?: string;
  /** Recordings that are recognised side by side. */
  readonly parallel: number;
  /** Longest recording that is taken. */
  readonly maxSeconds: number;
}

export type FromRecogniser = FromEngine<TranscriptionModel, TranscriptionEvent>;
