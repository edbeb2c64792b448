// The types that fill in `process/protocol` for transcription engines: start options, jobs and answers.

import type { Heard, ListeningWork, TranscriptionEvent, TranscriptionModel } from "../../domain/transcription.ts";
import type { ComputeOptions } from "../process/kind.ts";
import type { FromEngine } from "../process/protocol.ts";
import type { TranscriptionJob } from "./port.ts";

export interface TranscriberOptions extends ComputeOptions {
  readonly modelPath: string;
  /** Path of the model that tells speech from other sound; absent: all sound counts as speech. */
  readonly vadPath?: string;
  /** Recordings that are recognised in parallel, if there is memory for them. */
  readonly parallel: number;
  /** Memory that each of them needs, in bytes. */
  readonly stateBytes: number;
  /** Longest recording that is accepted, in seconds. */
  readonly maxSeconds: number;
}

export type TranscriberJob = TranscriptionJob | { readonly listening: ListeningWork };
export type TranscriberEvent = TranscriptionEvent | { readonly type: "heard"; readonly heard: Heard };
export type FromTranscriber = FromEngine<TranscriptionModel, TranscriberEvent>;
