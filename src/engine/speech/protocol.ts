// What a speech engine is started with, and what it sends: the types behind `process/protocol`.

import type { SpeechEvent } from "../../domain/speech.ts";
import type { FromEngine } from "../process/protocol.ts";

export interface SpeakerOptions {
  /** The engine's working directory. */
  readonly libraries: string;
  /** Folder with the voice's files: `voice.onnx`, and what src/speech reads. */
  readonly voice: string;
}

/** What loading tells about the model. */
export interface SpeakerModel {
  /** In Hz. */
  readonly sampleRate: number;
}

export type FromSpeaker = FromEngine<SpeakerModel, SpeechEvent>;
