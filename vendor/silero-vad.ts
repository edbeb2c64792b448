// Builds Silero VAD, which detects where in a sound somebody speaks: its weights come from a pinned Python wheel and
// are converted as whisper.cpp's own converter does it.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { counted, ggmlFile, i32s, type GgmlTensor } from "./ggml-file.ts";
import { buildModel } from "./model.ts";
import { readSafetensors, type Weights } from "./safetensors.ts";
import pin from "./silero-vad.json" with { type: "json" };

/** Version of the written file. */
const VERSION = 1;

/** Samples of a step, and of the previous step that each step sees. */
const WINDOW = 512;
const CONTEXT = 64;
/** Channels between the convolutions; each looks at three steps. */
const CHANNELS = [129, 128, 64, 64, 128];
const KERNEL = 3;
const HIDDEN = 128;
const LSTM = ["weight_ih", "weight_hh", "bias_ih", "bias_hh"];

/** Builds its file in whisper.cpp's format and returns the path; see buildModel. */
export const buildSileroVad = (): Promise<string | undefined> =>
  buildModel({
    title: "the speech detector Silero VAD",
    folder: "vad",
    version: `silero-vad-${pin.version}-${VERSION}`,
    file: "silero-vad.bin",
    wheels: [pin],
    convert: ([wheel = ""], target) => writeFileSync(target, sileroFile(readSafetensors(join(wheel, pin.weights)))),
  });

function sileroFile(weights: Weights): Buffer {
  const plan = (name: string, type: GgmlTensor["type"], from: string): GgmlTensor => {
    const { values, shape } = weights.get(from);
    return { name: `_model.${name}`, type, shape: shape.filter((size) => size > 1), values };
  };
  const layers = CHANNELS.slice(1).map((out, index) => i32s(CHANNELS[index] ?? 0, out, KERNEL));
  const version = i32s(...pin.version.split(".").map(Number));
  const encoder = layers.flatMap((_, index) => [
    plan(`encoder.${index}.reparam_conv.weight`, "f16", `conv${index + 1}.weight`),
    plan(`encoder.${index}.reparam_conv.bias`, "f32", `conv${index + 1}.bias`),
  ]);
  const basis = { ...plan("stft.forward_basis_buffer", "f16", "stft_conv.weight"), ...weights.get("stft_conv.weight") };
  return ggmlFile(
    [
      ...counted(Buffer.from("silero-16k")),
      version,
      i32s(WINDOW, CONTEXT, layers.length),
      ...layers,
      i32s(HIDDEN, HIDDEN, HIDDEN, 1),
    ],
    [
      ...encoder,
      ...LSTM.map((name) => plan(`decoder.rnn.${name}`, "f32", `lstm_cell.${name}`)),
      plan("decoder.decoder.2.weight", "f16", "final_conv.weight"),
      plan("decoder.decoder.2.bias", "f32", "final_conv.bias"),
      basis,
    ],
  );
}
