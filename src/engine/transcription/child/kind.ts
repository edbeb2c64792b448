// The transcription engine's part in its own process: loads a speech recognition model, and computes.

import { openAudio } from "../../../../ffi/audio/binding.ts";
import { unpacked } from "../../../../ffi/runtime/native-files.ts";
import { openWhisper } from "../../../../ffi/whisper/binding.ts";
import { openSound } from "../../../audio/decode/open-sound.ts";
import { rawSamples } from "../../../audio/decode/raw-sound.ts";
import type { TranscriptionModel } from "../../../domain/transcription.ts";
import { untilLoaded } from "../../process/child.ts";
import type { EngineKind } from "../../process/kind.ts";
import { availableMemory, othersShare } from "../../process/machine.ts";
import { findProgram, runProgram } from "../../process/program.ts";
import { ABORT_FD } from "../../process/protocol.ts";
import type { TranscriberEvent, TranscriberJob, TranscriberOptions } from "../protocol.ts";
import { Listener } from "./listener.ts";
import { AROUND_SPEECH_SECONDS } from "./phrases.ts";
import { statesThatFit } from "./states-that-fit.ts";
import { TranscriptionLoop } from "./loop.ts";

export const transcriptionKind: EngineKind<TranscriberOptions, TranscriptionModel, TranscriberJob, TranscriberEvent> = {
  async load(options, send) {
    const { libraries, modelPath: path, vadPath, parallel, stateBytes, threads, maxSeconds } = options;
    const { gpuLayers, flashAttention } = options;
    const whisper = openWhisper(libraries);
    const ffmpeg = findProgram("ffmpeg");
    const note = (text: string) => send({ type: "log", level: "debug", text });
    const tools = { audio: openAudio(libraries), run: runProgram, note, ...(ffmpeg !== undefined && { ffmpeg }) };
    whisper.listenForAborts(ABORT_FD);
    whisper.loadStart({
      path: unpacked(path),
      ...(vadPath !== undefined && { vadPath }),
      workers: parallel,
      threads,
      gpu: gpuLayers !== 0,
      flashAttention: flashAttention !== "off",
    });
    await untilLoaded(whisper, send);
    const loop = new TranscriptionLoop(
      whisper,
      {
        parallel: statesThatFit(parallel, stateBytes, availableMemory()),
        threads,
        othersShare,
        now: () => performance.now(),
        async open(work, signal) {
          if ("sound" in work) return { windows: oneWindow(rawSamples(work.sound, tools.audio)), share: () => 1 };
          return openSound(work.path, tools, { maxSeconds, field: work.field, signal });
        },
        sizeOf: (path) => Bun.file(path).size,
        ...(vadPath !== undefined && {
          findSpeech: (samples, detection) =>
            whisper.speech(samples, { padSeconds: AROUND_SPEECH_SECONDS, ...detection }),
        }),
      },
      send,
    );
    const listener = new Listener(whisper, tools.audio, vadPath !== undefined, send, () => loop.expectUtterance());
    const { type: size, bytes, device } = whisper.model();
    return {
      ready: { size, bytes, device },
      loop: {
        submit: (key, job) => ("listening" in job ? listener.submit(key, job.listening) : loop.submit(key, job)),
        cancel: (key) => loop.cancel(key),
        run: () => loop.run(),
      },
    };
  },
};

async function* oneWindow(samples: Float32Array): AsyncGenerator<Float32Array, void, void> {
  yield samples;
}
