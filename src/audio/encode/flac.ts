// Encodes FLAC with one channel and 16 bits: the errors of fixed polynomial predictors, in Rice codes. This halves the
// size of speech; better predictors would save a few percent more.

import { dataView } from "../../domain/data-view.ts";
import { SPEECH_RATE } from "../../domain/speech.ts";
import { crc } from "../crc.ts";
import { BitWriter } from "./bit-writer.ts";
import { Blocks, join, type Encoder } from "./encoder.ts";
import { toInt16 } from "./pcm.ts";
import { bestResidual, riceCodes, writeRice } from "./rice.ts";

const BLOCK = 4096;
const BITS = 16;
/** Offset of the 36 bits in STREAMINFO for the total; their highest four share a byte with other fields. */
const TOTAL_AT = 21;
const crc8 = crc(8, 0x07);
const crc16 = crc(16, 0x8005);

/** Codes of the frame header. */
const SIZE_4096 = 12;
const SIZE_16_BIT = 7;
const RATE_16_BIT = 13;
const SAMPLES_OF_16_BITS = 4;
/** Kinds of subframes. */
const CONSTANT = 0;
const FIXED = 8;

export class FlacEncoder implements Encoder {
  private readonly blocks = new Blocks(BLOCK);
  private frames = 0;

  push(samples: Float32Array): Uint8Array {
    return join(this.blocks.with(samples).map((block) => this.frame(toInt16(block))));
  }

  finish(): Uint8Array {
    const { begun } = this.blocks;
    return begun.length > 0 ? this.frame(toInt16(begun)) : new Uint8Array();
  }

  private frame(samples: Int16Array): Uint8Array {
    const bits = new BitWriter();
    const isWhole = samples.length === BLOCK;
    bits.write(0xfff8, 16);
    bits.write(isWhole ? SIZE_4096 : SIZE_16_BIT, 4);
    bits.write(RATE_16_BIT, 4);
    bits.write(0, 4);
    bits.write(SAMPLES_OF_16_BITS << 1, 4);
    writeNumber(bits, this.frames++);
    if (!isWhole) bits.write(samples.length - 1, 16);
    bits.write(SPEECH_RATE, 16);
    bits.write(crc8(bits.written), 8);
    writeSubframe(bits, samples);
    bits.align();
    bits.write(crc16(bits.written), 16);
    return bits.written;
  }
}

/** Returns magic number and STREAMINFO, with length and checksum of the sound left open. */
export function flacHead(): Uint8Array {
  const head = Buffer.alloc(42);
  head.write("fLaC", 0, "latin1");
  head.writeUInt32BE(0x8000_0022, 4);
  head.writeUInt16BE(BLOCK, 8);
  head.writeUInt16BE(BLOCK, 10);
  head.writeUInt32BE(((SPEECH_RATE << 12) | ((BITS - 1) << 4)) >>> 0, 18);
  return head;
}

/** Writes the number of samples into the file's header. */
export function completeFlac(head: Uint8Array, samples: number): void {
  const view = dataView(head);
  view.setUint8(TOTAL_AT, (view.getUint8(TOTAL_AT) & 0xf0) | (Math.floor(samples / 2 ** 32) & 0x0f));
  view.setUint32(TOTAL_AT + 1, samples >>> 0);
}

/** Writes a number below 2 ** 21 (a hundred hours of blocks) as UTF-8 encodes a character. */
function writeNumber(bits: BitWriter, number: number): void {
  const following = number < 0x80 ? 0 : number < 0x800 ? 1 : number < 0x1_0000 ? 2 : 3;
  bits.write(following === 0 ? number : (0xf0 << (3 - following)) | (number >>> (6 * following)), 8);
  for (let left = following - 1; left >= 0; left--) bits.write(0x80 | ((number >>> (6 * left)) & 0x3f), 8);
}

function writeSubframe(bits: BitWriter, samples: Int16Array): void {
  const [first = 0] = samples;
  if (samples.every((sample) => sample === first)) {
    bits.write(CONSTANT << 1, 8);
    bits.write(first, BITS);
    return;
  }
  const { order, values } = bestResidual(samples);
  bits.write((FIXED | order) << 1, 8);
  for (const sample of samples.subarray(0, order)) bits.write(sample, BITS);
  writeRice(bits, values, order, riceCodes(values, samples.length, order));
}
