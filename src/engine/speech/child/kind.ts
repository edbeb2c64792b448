// The speech engine in its process: loads a voice, and says what it is given.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { SpeechEvent } from "../../../domain/speech.ts";
import { Phonemizer } from "../../../speech/phonemizer.ts";
import { cut } from "../../../speech/sentences.ts";
import { speechData } from "../../../speech/speech-data.ts";
import type { EngineKind } from "../../process/kind.ts";
import type { SpeechJob } from "../port.ts";
import type { SpeakerModel, SpeakerOptions } from "../protocol.ts";
import { Voice } from "./voice.ts";
import { SpeechWorker } from "./worker.ts";

export const speechKind: EngineKind<SpeakerOptions, SpeakerModel, SpeechJob, SpeechEvent> = {
  async load({ voice: folder }, send) {
    const read = (name: string) => readFileSync(join(folder, name));
    send({ type: "loading", file: join(folder, "voice.onnx") });
    const voice = await Voice.load(read("voice.onnx"));
    send({ type: "progress", value: 0.8 });
    const phonemizer = new Phonemizer(speechData(read));
    const pronunciation = {
      sentences: (text: string) => phonemizer.sentences(text),
      phonemes: (sentence: string) => phonemizer.phonemes(sentence),
      pieces: cut,
      ids: (phonemes: string) => phonemizer.ids(phonemes),
    };
    const worker = new SpeechWorker(pronunciation, voice, send);
    return {
      ready: { sampleRate: voice.sampleRate },
      submit: (key, job) => worker.submit(key, job),
      cancel: (key) => worker.cancel(key),
      run: () => worker.run(),
    };
  },
};
