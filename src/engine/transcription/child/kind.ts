// The transcription engine in its process: loads a speech recognition model, and computes.

import { openAudio } from "../../../../ffi/audio/binding.ts";
import { openWhisper } from "../../../../ffi/whisper/binding.ts";
import { openSound } from "../../../audio/decode/open-sound.ts";
import type { TranscriptionEvent, TranscriptionModel } from "../../../domain/transcription.ts";
import { untilLoaded } from "../../process/child.ts";
import type { EngineKind } from "../../process/kind.ts";
import { othersShare } from "../../process/others-share.ts";
import { findProgram, runProgram } from "../../process/program.ts";
import { ABORT_FD } from "../../process/protocol.ts";
import type { TranscriptionJob } from "../port.ts";
import type { RecogniserOptions } from "../protocol.ts";
import { TranscriptionWorker } from "./worker.ts";

export const transcriptionKind: EngineKind<
  RecogniserOptions,
  TranscriptionModel,
  TranscriptionJob,
  TranscriptionEvent
> = {
  async load(options, send) {
    const { libraries, modelPath: path, vadPath, parallel, threads, maxSeconds, gpuLayers, flashAttention } = options;
    const whisper = openWhisper(libraries);
    const ffmpeg = findProgram("ffmpeg");
    const note = (text: string) => send({ type: "log", level: "debug", text });
    const tools = { audio: openAudio(libraries), run: runProgram, note, ...(ffmpeg !== undefined && { ffmpeg }) };
    whisper.listenForAborts(ABORT_FD);
    whisper.loadStart({
      path,
      ...(vadPath !== undefined && { vadPath }),
      workers: parallel,
      threads,
      gpu: gpuLayers !== 0,
      flashAttention: flashAttention !== "off",
    });
    await untilLoaded(whisper, send);
    const worker = new TranscriptionWorker(
      whisper,
      {
        parallel,
        threads,
        othersShare,
        open: ({ path: file, field }, signal) => openSound({ path: file }, tools, { maxSeconds, field, signal }),
        ...(vadPath !== undefined && { listen: (samples) => whisper.speech(samples) }),
      },
      send,
    );
    const { type: size, bytes, device, languages } = whisper.model();
    return {
      ready: { size, bytes, device, languages },
      submit: (key, job) => worker.submit(key, job),
      cancel: (key, cause) => worker.cancel(key, cause),
      run: () => worker.run(),
    };
  },
};
