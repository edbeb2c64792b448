// The types that fill in `process/protocol` for speech engines: start options and messages.

import type { SpeechEvent } from "../../domain/speech.ts";
import type { FromEngine } from "../process/protocol.ts";
import type { HostProgram } from "./host/host-program.ts";

export interface SpeakerOptions {
  readonly source: SpeakerSource;
}

/** `heart`: a folder with `voice.onnx` and the data of src/speech. */
export type SpeakerSource =
  | { readonly type: "heart"; readonly folder: string }
  | { readonly type: "kokoro"; readonly files: KokoroFiles }
  | { readonly type: "program"; readonly program: HostProgram };

export interface KokoroFiles {
  /** The ONNX file. */
  readonly model: string;
  /** Folder with a file for each voice. */
  readonly voices: string;
  /** Folder with the data of src/speech. */
  readonly words: string;
  /** Phonemizes languages other than US English; absent: their voices cannot speak. */
  readonly reader?: HostProgram;
}

export type FromSpeaker = FromEngine<undefined, SpeechEvent>;
