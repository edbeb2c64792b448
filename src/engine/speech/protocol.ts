// What a speech engine is started with, and what it sends: the types behind `process/protocol`.

import type { SpeechEvent } from "../../domain/speech.ts";
import type { FromEngine } from "../process/protocol.ts";
import type { HostProgram } from "./host/host-program.ts";

export interface SpeakerOptions {
  /** The engine's working directory. */
  readonly libraries: string;
  readonly source: SpeakerSource;
}

/** `heart`: a folder with `voice.onnx`, and what src/speech reads. */
export type SpeakerSource =
  | { readonly type: "heart"; readonly folder: string }
  | { readonly type: "kokoro"; readonly files: KokoroFiles }
  | { readonly type: "program"; readonly program: HostProgram };

export interface KokoroFiles {
  /** The ONNX file. */
  readonly model: string;
  /** Folder with a file for each voice. */
  readonly voices: string;
  /** Folder with what src/speech reads. */
  readonly words: string;
  /** Reads out other languages than US English; absent: their voices cannot speak. */
  readonly reader?: HostProgram;
}

/** What loading tells about the model. */
export interface SpeakerModel {
  /** In Hz. */
  readonly sampleRate: number;
}

export type FromSpeaker = FromEngine<SpeakerModel, SpeechEvent>;
