// Converts a Whisper model of CTranslate2 to whisper.cpp's format. Q8_0 is used as by whisper.cpp's own quantizer: for
// all matrices but the positions.

import type { HalfTensor } from "./ctranslate2.ts";
import { bytesOf, counted, ggmlFile, i32s, type GgmlTensor, type GgmlType } from "./ggml-file.ts";
import { BuildError } from "./run.ts";

type Weights = ReadonlyMap<string, HalfTensor>;
type Side = "encoder" | "decoder";

const HEAD_SIZE = 64;
const SAMPLE_RATE = 16_000;
const TRANSFORM = 400;
/** Version 2 of the quantized formats, mostly Q8_0. */
const FILE_TYPE = 2007;
const END_OF_TEXT = "<|endoftext|>";

/**
 * Returns the file. `vocabulary`: one token per line, as byte-level BPE spells them. Throws BuildError about a model of
 * another kind.
 */
export function whisperFile(weights: Weights, vocabulary: string): Buffer {
  const [words = 0, width = 0] = tensor(weights, "decoder/embeddings/weight").shape;
  const [audioContext = 0] = tensor(weights, "encoder/position_encodings/encodings").shape;
  const [textContext = 0] = tensor(weights, "decoder/position_encodings/encodings").shape;
  const [, mels = 0] = tensor(weights, "encoder/conv1/weight").shape;
  const heads = width / HEAD_SIZE;
  const sizeOf = (context: number, side: Side) => [context, width, heads, layersOf(weights, side)];
  const header = i32s(words, ...sizeOf(audioContext, "encoder"), ...sizeOf(textContext, "decoder"), mels, FILE_TYPE);
  const tokens = textTokens(vocabulary);
  return ggmlFile(
    [header, i32s(mels, TRANSFORM / 2 + 1), bytesOf(melFilters(mels)), i32s(tokens.length), ...tokens.flatMap(counted)],
    [...encoder(weights), ...decoder(weights)],
  );
}

function tensor(weights: Weights, name: string): HalfTensor {
  const found = weights.get(name);
  if (!found) throw new BuildError(`The Whisper model has no tensor ${name}.`);
  return found;
}

const layersOf = (weights: Weights, side: Side): number =>
  new Set([...weights.keys()].flatMap((name) => name.match(`^${side}/layer_\\d+/`) ?? [])).size;

function encoder(weights: Weights): GgmlTensor[] {
  const convolution = (index: number): GgmlTensor[] => {
    const bias = tensor(weights, `encoder/conv${index}/bias`);
    return [
      plan(`encoder.conv${index}.weight`, "f16", tensor(weights, `encoder/conv${index}/weight`)),
      plan(`encoder.conv${index}.bias`, "f32", { ...bias, shape: [...bias.shape, 1] }),
    ];
  };
  return [
    plan("encoder.positional_embedding", "f32", tensor(weights, "encoder/position_encodings/encodings")),
    ...convolution(1),
    ...convolution(2),
    ...blocks(weights, "encoder"),
    ...norm(weights, "encoder.ln_post", "encoder/layer_norm"),
  ];
}

const decoder = (weights: Weights): GgmlTensor[] => [
  plan("decoder.positional_embedding", "f32", tensor(weights, "decoder/position_encodings/encodings")),
  plan("decoder.token_embedding.weight", "q8_0", tensor(weights, "decoder/embeddings/weight")),
  ...blocks(weights, "decoder"),
  ...norm(weights, "decoder.ln", "decoder/layer_norm"),
];

function blocks(weights: Weights, side: Side): GgmlTensor[] {
  return Array.from({ length: layersOf(weights, side) }, (_, index) => {
    const to = `${side}.blocks.${index}`;
    const from = `${side}/layer_${index}`;
    return [
      ...norm(weights, `${to}.attn_ln`, `${from}/self_attention/layer_norm`),
      ...joined(weights, `${to}.attn`, `${from}/self_attention/linear_0`, ["query", "key", "value"]),
      ...joined(weights, `${to}.attn`, `${from}/self_attention/linear_1`, ["out"]),
      ...(side === "decoder" ? crossAttention(weights, to, `${from}/attention`) : []),
      ...norm(weights, `${to}.mlp_ln`, `${from}/ffn/layer_norm`),
      ...joined(weights, `${to}.mlp`, `${from}/ffn/linear_0`, ["0"]),
      ...joined(weights, `${to}.mlp`, `${from}/ffn/linear_1`, ["2"]),
    ];
  }).flat();
}

const crossAttention = (weights: Weights, to: string, from: string): GgmlTensor[] => [
  ...norm(weights, `${to}.cross_attn_ln`, `${from}/layer_norm`),
  ...joined(weights, `${to}.cross_attn`, `${from}/linear_0`, ["query"]),
  ...joined(weights, `${to}.cross_attn`, `${from}/linear_1`, ["key", "value"]),
  ...joined(weights, `${to}.cross_attn`, `${from}/linear_2`, ["out"]),
];

const norm = (weights: Weights, to: string, from: string): GgmlTensor[] => [
  plan(`${to}.weight`, "f32", tensor(weights, `${from}/gamma`)),
  plan(`${to}.bias`, "f32", tensor(weights, `${from}/beta`)),
];

/**
 * Splits layers that CTranslate2 computes as one, with rows one below the other. Keys have no bias; there it is zero.
 */
function joined(weights: Weights, to: string, from: string, names: readonly string[]): GgmlTensor[] {
  const { shape, values } = tensor(weights, `${from}/weight`);
  const bias = tensor(weights, `${from}/bias`).values;
  const [allRows = 0, columns = 0] = shape;
  const rows = allRows / names.length;
  return names.flatMap((name, index) => {
    const first = index * rows;
    const matrix = { shape: [rows, columns], values: values.subarray(first * columns, (first + rows) * columns) };
    const part = { shape: [rows], values: bias.subarray(first, first + rows) };
    const weight = plan(`${to}.${name}.weight`, "q8_0", matrix);
    return name === "key" ? [weight] : [weight, plan(`${to}.${name}.bias`, "f32", part)];
  });
}

const plan = (name: string, type: GgmlType, from: HalfTensor): GgmlTensor => ({ name, type, ...from });

/** Returns the bytes of the tokens that are text; whisper.cpp knows the special ones by number. */
function textTokens(vocabulary: string): Uint8Array[] {
  const lines = vocabulary.split("\n");
  const bytes = byteOfCharacter();
  return lines
    .slice(0, lines.indexOf(END_OF_TEXT))
    .map((token) => Uint8Array.from(token, (character) => bytes.get(character) ?? 0));
}

/** Byte-level BPE writes a printable byte as its character, and any other byte as a character above 255. */
function byteOfCharacter(): ReadonlyMap<string, number> {
  const all = Array.from({ length: 256 }, (_, byte) => byte);
  const isPrintable = (byte: number) => (byte > 32 && byte < 127) || (byte > 160 && byte !== 173);
  const others = all.filter((byte) => !isPrintable(byte));
  return new Map(all.map((byte) => [String.fromCharCode(isPrintable(byte) ? byte : 256 + others.indexOf(byte)), byte]));
}

/** Returns how each spectrogram band weights frequencies: triangles on Slaney's scale, as librosa makes them. */
function melFilters(bands: number): Float32Array {
  const frequencies = TRANSFORM / 2 + 1;
  const highest = melOf(SAMPLE_RATE / 2);
  const edges = Array.from({ length: bands + 2 }, (_, index) => hertzOf((highest * index) / (bands + 1)));
  return Float32Array.from({ length: bands * frequencies }, (_, index) => {
    const [left = 0, middle = 0, right = 0] = edges.slice(Math.floor(index / frequencies));
    const hertz = ((index % frequencies) * SAMPLE_RATE) / TRANSFORM;
    const height = Math.min((hertz - left) / (middle - left), (right - hertz) / (right - middle));
    return Math.max(0, height) * (2 / (right - left));
  });
}

/** Slaney's scale: even steps up to a kilohertz, even ratios above. */
const STEP = 200 / 3;
const BEND = 1000 / STEP;
const RATIO = Math.log(6.4) / 27;
const melOf = (hertz: number): number => (hertz < 1000 ? hertz / STEP : BEND + Math.log(hertz / 1000) / RATIO);
const hertzOf = (mel: number): number => (mel < BEND ? mel * STEP : 1000 * Math.exp(RATIO * (mel - BEND)));
