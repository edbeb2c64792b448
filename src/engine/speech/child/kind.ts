// The speech engine's part in its own process: loads a source of voices and speaks.

import { join } from "node:path";
import { unpacked } from "../../../../ffi/runtime/native-files.ts";
import type { SpeechEvent } from "../../../domain/speech.ts";
import { tellReading } from "../../process/child.ts";
import type { EngineKind } from "../../process/kind.ts";
import { PROGRAMS } from "../host/programs.ts";
import type { SpeechJob } from "../port.ts";
import type { SpeakerOptions, SpeakerSource } from "../protocol.ts";
import { ProgramSpeaker } from "./program-speaker.ts";
import { SpeechLoop, type Speaker } from "./loop.ts";

/** A file of the embedded voice; the data of src/speech is in the same folder. */
const VOICE = "voice.onnx";

export const speechKind: EngineKind<SpeakerOptions, undefined, SpeechJob, SpeechEvent> = {
  async load({ source }, send) {
    return { ready: undefined, loop: new SpeechLoop(await load(source), send) };
  },
};

async function load(source: SpeakerSource): Promise<Speaker> {
  if (source.type === "program") {
    const kind = PROGRAMS[source.program.name];
    if (!kind) throw new Error(`${source.program.name} is not a program whose voices svc can use`);
    return new ProgramSpeaker(source.program, kind);
  }
  // Models need a large library to compute, which programs do not need.
  if (source.type === "kokoro") {
    tellReading(source.files.model);
    unpacked(join(source.files.words, VOICE));
    const { Kokoro } = await import("./kokoro.ts");
    return Kokoro.load(source.files);
  }
  tellReading(unpacked(join(source.folder, VOICE)));
  const { Heart } = await import("./heart.ts");
  return Heart.load(source.folder);
}
