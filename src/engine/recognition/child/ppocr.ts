// Reads text in a picture with PP-OCRv5: one net finds lines, one tells which are upside down, and one reads them.

import { readFileSync } from "node:fs";
import { Tensor, type InferenceSession } from "onnxruntime-web/wasm";
import { errorMessage } from "../../../domain/error-message.ts";
import type { Box, RecognizedWord, TextTask } from "../../../domain/recognition.ts";
import type { Bitmap } from "../../../recognition/bitmap.ts";
import { blocksOf } from "../../../recognition/blocks.ts";
import { clipped, scaled } from "../../../recognition/boxes.ts";
import { decodeSteps } from "../../../recognition/ctc.ts";
import { withKatakana } from "../../../recognition/katakana.ts";
import { scaling } from "../../../recognition/projection.ts";
import { crop, resize, shrink, warp } from "../../../recognition/resample.ts";
import { linesIn } from "../../../recognition/text-map.ts";
import { loadOnnx } from "../../process/onnx-session.ts";
import type { PpocrFiles } from "../protocol.ts";
import { turned } from "./grey.ts";
import { UnusableData } from "./unusable-data.ts";

/** Longest side, in pixels, of the picture in which lines are searched: time and memory grow with the area. */
const LONGEST = { accurate: 1280, fast: 960 } as const;
/** Sides must be multiples of this many pixels. */
const STEP = 32;
const WHITE = 255;
/** How many of the longest lines decide whether the page is upside down. */
const TELLING = 5;
/** EXIF's orientation of a picture that is upside down. */
const UPSIDE_DOWN = 3;

/** A net's input: a picture of this size in three colours, here all the same grey, normalised as in training. */
interface NetInput {
  readonly width: number;
  readonly height: number;
  readonly means: readonly number[];
  readonly deviations: readonly number[];
  /** The grey value where the picture does not fill the input. */
  readonly ground: number;
}

const FINDER = { means: [0.485, 0.456, 0.406], deviations: [0.229, 0.224, 0.225], ground: WHITE } as const;
const DIRECTION: NetInput = { ...FINDER, width: 160, height: 80 };
/** Widths in pixels: lines narrower than `least` are padded, wider than `most` compressed. */
const READER = {
  height: 48,
  least: 320,
  most: 3200,
  means: [0.5, 0.5, 0.5],
  deviations: [0.5, 0.5, 0.5],
  ground: 127,
} as const;

interface Nets {
  readonly finder: InferenceSession;
  readonly director: InferenceSession;
  readonly reader: InferenceSession;
}

export class Ppocr {
  private constructor(
    private readonly nets: Nets,
    /** Characters by their numbers in the reader's output; the first means no character. */
    private readonly characters: readonly string[],
    /** Called between lines; an error that it throws ends the computation. */
    private readonly progress: () => void,
  ) {}

  /** Throws UnusableData when the files are not PP-OCR's. */
  static async load(files: PpocrFiles, progress: () => void): Promise<Ppocr> {
    const load = async <T>(path: string, open: (bytes: Buffer) => T): Promise<Awaited<T>> => {
      try {
        return await open(readFileSync(path));
      } catch (error) {
        throw new UnusableData(`PP-OCR cannot load ${path} (${errorMessage(error)})`);
      }
    };
    const nets = {
      finder: await load(files.finder, loadOnnx),
      director: await load(files.director, loadOnnx),
      reader: await load(files.reader, loadOnnx),
    };
    const characters = await load(files.characters, (bytes) => bytes.toString().replace(/\n$/, "").split("\n"));
    return new Ppocr(nets, characters, progress);
  }

  /** Returns the words in a picture, in reading order. Throws what `progress` throws. */
  async words(picture: Bitmap, _dotsPerInch: number, { level }: Pick<TextTask, "level">): Promise<RecognizedWord[]> {
    const lines = await this.lines(picture, LONGEST[level]);
    if (!(await this.isUpsideDown(picture, lines))) return this.read(picture, lines);
    const { width, height } = picture;
    const opposite = (box: Box) => ({ ...box, x: width - box.x - box.width, y: height - box.y - box.height });
    const words = await this.read(turned(picture, UPSIDE_DOWN), lines.map(opposite));
    return words.map((word) => ({ ...word, box: opposite(word.box) }));
  }

  private async lines(picture: Bitmap, longest: number): Promise<Box[]> {
    const scale = Math.max(1, Math.max(picture.width, picture.height) / longest);
    const [across, down] = [Math.round(picture.width / scale), Math.round(picture.height / scale)];
    const bitmap = scale === 1 ? picture : resize(picture, Math.max(1, across), Math.max(1, down));
    const [width, height] = [whole(bitmap.width), whole(bitmap.height)];
    const data = await run(this.nets.finder, bitmap, { width, height, ...FINDER });
    return linesIn({ width, height, data })
      .map((box) => clipped(scaled(box, scale), picture))
      .filter((box) => box.width > 0 && box.height > 0);
  }

  private async isUpsideDown(picture: Bitmap, lines: readonly Box[]): Promise<boolean> {
    const longest = lines.toSorted((a, b) => b.width - a.width).slice(0, TELLING);
    let count = 0;
    for (const line of longest) {
      this.progress();
      const { width, height } = DIRECTION;
      const part = stretched(crop(picture, line), width, height);
      const [upright = 0, upsideDown = 0] = await run(this.nets.director, part, DIRECTION);
      if (upsideDown > upright) count++;
    }
    return 2 * count > longest.length;
  }

  private async read(picture: Bitmap, lines: readonly Box[]): Promise<RecognizedWord[]> {
    const words: RecognizedWord[] = [];
    let line = 0;
    for (const [block, rows] of blocksOf(lines).entries()) {
      for (const row of rows) {
        for (const box of row) {
          this.progress();
          for (const word of await this.readLine(picture, box)) words.push({ ...word, line, block });
        }
        line++;
      }
    }
    return words;
  }

  private async readLine(picture: Bitmap, box: Box): Promise<Omit<RecognizedWord, "line" | "block">[]> {
    const { height, least, most } = READER;
    // Interpolating between a few pixels would skip those in between, so large lines are averaged first.
    const part = shrink(crop(picture, box), Math.max(1, Math.floor(box.height / height)));
    const across = Math.min(most, Math.max(1, Math.round((part.width * height) / part.height)));
    const width = Math.max(least, whole(across));
    const steps = await run(this.nets.reader, stretched(part, across, height), { ...READER, width });
    const pixels = (step: number) =>
      Math.min(1, (step * width * this.characters.length) / (steps.length * across)) * box.width;
    return decodeSteps(steps, this.characters).map(({ text, confidence, from, to }) => ({
      text: withKatakana(text),
      confidence,
      box: { ...box, x: box.x + pixels(from), width: pixels(to) - pixels(from) },
    }));
  }
}

const whole = (side: number): number => Math.ceil(side / STEP) * STEP;

const stretched = (part: Bitmap, width: number, height: number): Bitmap =>
  warp(part, scaling(part.width / width, part.height / height), width, height, WHITE);

/** Runs a net on a picture; the part of the input that the picture does not fill is `ground`. */
async function run(net: InferenceSession, picture: Bitmap, input: NetInput): Promise<Float32Array> {
  const { width, height, means, deviations, ground } = input;
  const area = width * height;
  const data = new Float32Array(3 * area);
  for (const [colour, mean] of means.entries()) {
    const deviation = deviations[colour] as number;
    const values = Float32Array.from({ length: 256 }, (_, grey) => (grey / 255 - mean) / deviation);
    const plane = data.subarray(colour * area, (colour + 1) * area).fill(values[ground] as number);
    for (let y = 0; y < picture.height; y++) {
      const from = y * picture.width;
      for (let x = 0; x < picture.width; x++) plane[y * width + x] = values[picture.data[from + x] as number] as number;
    }
  }
  const [name = "", result = ""] = [net.inputNames[0], net.outputNames[0]];
  const outputs = await net.run({ [name]: new Tensor("float32", data, [1, 3, height, width]) });
  const found = outputs[result]?.data;
  if (!(found instanceof Float32Array)) throw new Error("this is not a model of PP-OCR: it answers without numbers");
  return found;
}
