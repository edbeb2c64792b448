// The projector of a tiny vision model: an image encoder of one of three kinds, and an audio encoder like Whisper's.

import type { GgufValue, TensorPlan } from "../../vendor/gguf-writer.ts";
import type { VisionKind } from "./make-vision-model.ts";
import { matrix, ones, type Random, tensor, vector } from "./tensors.ts";

/** Pixels of an image's side, or of a tile's with `tiles`. */
export const IMAGE_SIZE = 32;
export const PATCH_SIZE = 4;
/** Patches per side that become one token. */
export const MERGE = 2;
/** The longer side of an image before it is split into tiles. */
export const LONGEST_EDGE = 64;
/** Tokens of 30 seconds of audio. */
export const AUDIO_TOKENS = 375;

const WIDTH = 32;
const HEADS = 2;
const FEED_FORWARD = 64;
const LAYERS = 2;
const CHANNELS = 3;
const MEL_BINS = 16;
/** Frames of 10 ms that are encoded together; a convolution halves their number. */
const AUDIO_FRAMES = 3000;
/** Frames that become one token. */
const AUDIO_STACK = AUDIO_FRAMES / 2 / AUDIO_TOKENS;
const AUDIO_MIDDLE = 32;

const VISION_TYPE: Readonly<Record<VisionKind, string>> = {
  tiles: "idefics3",
  block: "gemma3",
  mrope: "qwen2vl_merger",
};

export function visionMetadata(kind: VisionKind, textWidth: number, imageSize: number): Record<string, GgufValue> {
  return {
    "general.architecture": { type: "string", value: "clip" },
    "clip.has_vision_encoder": { type: "bool", value: true },
    "clip.vision.projector_type": { type: "string", value: VISION_TYPE[kind] },
    "clip.use_gelu": { type: "bool", value: true },
    "clip.vision.image_size": { type: "u32", value: imageSize },
    "clip.vision.patch_size": { type: "u32", value: PATCH_SIZE },
    "clip.vision.image_mean": { type: "f32s", value: [0.5, 0.5, 0.5] },
    "clip.vision.image_std": { type: "f32s", value: [0.5, 0.5, 0.5] },
    "clip.vision.projector.scale_factor": { type: "u32", value: MERGE },
    "clip.vision.preproc_image_size": { type: "u32", value: LONGEST_EDGE },
    ...encoderMetadata("vision", textWidth),
  };
}

export function audioMetadata(textWidth: number): Record<string, GgufValue> {
  return {
    "clip.has_audio_encoder": { type: "bool", value: true },
    "clip.audio.projector_type": { type: "string", value: "ultravox" },
    "clip.audio.num_mel_bins": { type: "u32", value: MEL_BINS },
    "clip.audio.projector.stack_factor": { type: "u32", value: AUDIO_STACK },
    ...encoderMetadata("audio", textWidth),
  };
}

function encoderMetadata(encoder: "vision" | "audio", textWidth: number): Record<string, GgufValue> {
  const sizes = {
    embedding_length: WIDTH,
    feed_forward_length: FEED_FORWARD,
    block_count: LAYERS,
    projection_dim: textWidth,
    "attention.head_count": HEADS,
  };
  const entries = Object.entries(sizes).map(
    ([key, value]) => [`clip.${encoder}.${key}`, { type: "u32", value }] as const,
  );
  const epsilon: GgufValue = { type: "f32", value: 1e-6 };
  return { ...Object.fromEntries(entries), [`clip.${encoder}.attention.layer_norm_epsilon`]: epsilon };
}

export function visionTensors(kind: VisionKind, textWidth: number, imageSize: number, random: Random): TensorPlan[] {
  const patches = (name: string) => tensor(name, [PATCH_SIZE, PATCH_SIZE, CHANNELS, WIDTH], 0.25, random);
  const layers = encoderLayers("v", true, random);
  const merged = WIDTH * MERGE * MERGE;
  // The positions of patches are learned, or rotated with mrope.
  const learned = () => [
    vector("v.patch_embd.bias", WIDTH, random),
    matrix("v.position_embd.weight", WIDTH, (imageSize / PATCH_SIZE) ** 2, random),
  ];
  const shared = [patches("v.patch_embd.weight"), ...norm("v.post_ln"), ...layers];
  if (kind === "tiles") return [...shared, ...learned(), matrix("mm.model.fc.weight", merged, textWidth, random)];
  if (kind === "block") {
    const projection = matrix("mm.input_projection.weight", textWidth, WIDTH, random);
    return [...shared, ...learned(), projection, ones("mm.soft_emb_norm.weight", WIDTH)];
  }
  return [
    ...shared,
    patches("v.patch_embd.weight.1"),
    matrix("mm.0.weight", merged, merged, random),
    vector("mm.0.bias", merged, random),
    matrix("mm.2.weight", merged, textWidth, random),
    vector("mm.2.bias", textWidth, random),
  ];
}

export function audioTensors(textWidth: number, random: Random): TensorPlan[] {
  const stacked = WIDTH * AUDIO_STACK;
  return [
    tensor("a.conv1d.1.weight", [3, MEL_BINS, WIDTH], 0.25, random),
    tensor("a.conv1d.1.bias", [1, WIDTH], 0.1, random),
    tensor("a.conv1d.2.weight", [3, WIDTH, WIDTH], 0.2, random),
    tensor("a.conv1d.2.bias", [1, WIDTH], 0.1, random),
    matrix("a.position_embd.weight", WIDTH, AUDIO_FRAMES / 2, random),
    ...norm("a.post_ln"),
    ...encoderLayers("a", false, random),
    ones("mm.a.norm_pre.weight", stacked),
    matrix("mm.a.mlp.1.weight", stacked, 2 * AUDIO_MIDDLE, random),
    ones("mm.a.norm_mid.weight", AUDIO_MIDDLE),
    matrix("mm.a.mlp.2.weight", AUDIO_MIDDLE, textWidth, random),
  ];
}

/** llama.cpp requires that Whisper's keys have no bias. */
function encoderLayers(prefix: "v" | "a", keyBias: boolean, random: Random): TensorPlan[] {
  const linear = (name: string, columns: number, rows: number, bias = true) => [
    matrix(`${name}.weight`, columns, rows, random),
    ...(bias ? [vector(`${name}.bias`, rows, random)] : []),
  ];
  return Array.from({ length: LAYERS }, (_, index) => `${prefix}.blk.${index}`).flatMap((layer) => [
    ...norm(`${layer}.ln1`),
    ...linear(`${layer}.attn_q`, WIDTH, WIDTH),
    ...linear(`${layer}.attn_k`, WIDTH, WIDTH, keyBias),
    ...linear(`${layer}.attn_v`, WIDTH, WIDTH),
    ...linear(`${layer}.attn_out`, WIDTH, WIDTH),
    ...norm(`${layer}.ln2`),
    ...linear(`${layer}.ffn_up`, WIDTH, FEED_FORWARD),
    ...linear(`${layer}.ffn_down`, FEED_FORWARD, WIDTH),
  ]);
}

const norm = (name: string): TensorPlan[] => [
  ones(`${name}.weight`, WIDTH),
  { ...ones(`${name}.bias`, WIDTH), fill: (bytes) => bytes.fill(0) },
];
