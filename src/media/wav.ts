// Reads the header of a WAV file.

import { dataView } from "../domain/data-view.ts";
import { Refusal } from "./refusal.ts";

const PCM = 1;
const FLOAT = 3;
const A_LAW = 6;
const MU_LAW = 7;
const EXTENSIBLE = 0xfffe;
/** Sample widths in bits for each coding. */
const widths: Readonly<Record<number, readonly number[]>> = {
  [PCM]: [8, 16, 24, 32],
  [FLOAT]: [32, 64],
  [A_LAW]: [8],
  [MU_LAW]: [8],
};
const MOST_CHANNELS = 16;
const LOWEST_RATE = 1000;
const HIGHEST_RATE = 384_000;
/** Recorders that do not know the size yet write sizes from this value on. */
const PLACEHOLDER = 0x7fff_0000;
const FORMAT_CHUNK = 0x666d7420;
const DATA_CHUNK = 0x64617461;

interface Coding {
  readonly rate: number;
  /** Bytes of one sample of all channels. */
  readonly frame: number;
}

/**
 * Returns the duration of a WAV file in seconds. Throws Refusal when its header is invalid, or promises more than there
 * is. Fills in, in place, a size that the writer left open: everything that follows is sound.
 */
export function wavSeconds(bytes: Uint8Array): number {
  const view = dataView(bytes);
  let coding: Coding | undefined;
  for (let at = 12; at + 8 <= bytes.length;) {
    const type = view.getUint32(at);
    const size = view.getUint32(at + 4, true);
    const start = at + 8;
    const left = bytes.length - start;
    if (type === FORMAT_CHUNK) {
      if (size < 16 || left < 16) throw new Refusal("be a whole WAV file", `a format chunk of ${size} bytes`);
      coding = readCoding(view, start, size);
    }
    if (type === DATA_CHUNK) {
      if (!coding) throw new Refusal("be a WAV file that names its format before its data", "one that does not");
      const open = size >= PLACEHOLDER || (size === 0 && left > 0);
      if (!open && size > left) throw new Refusal(`hold ${size} bytes of sound, as its header says`, `${left} bytes`);
      const length = open ? left - (left % coding.frame) : size;
      if (length < coding.frame) throw new Refusal("have sound in it", "a WAV file without samples");
      if (open) view.setUint32(at + 4, length, true);
      if (open) view.setUint32(4, bytes.length - 8, true);
      return length / coding.frame / coding.rate;
    }
    at = start + size + (size & 1);
  }
  throw new Refusal("be a whole WAV file", `${bytes.length} bytes without a data chunk`);
}

function readCoding(view: DataView, at: number, size: number): Coding {
  const tag = view.getUint16(at, true);
  // In the extensible form, the tag is at the beginning of a GUID.
  const extended = tag === EXTENSIBLE && size >= 26 && at + 26 <= view.byteLength;
  const coding = extended ? view.getUint16(at + 24, true) : tag;
  const channels = view.getUint16(at + 2, true);
  const rate = view.getUint32(at + 4, true);
  const frame = view.getUint16(at + 12, true);
  const bits = view.getUint16(at + 14, true);
  if (!widths[coding]?.includes(bits)) {
    throw new Refusal("be WAV of PCM, float, A-law or µ-law samples", `coding ${coding} of ${bits} bits`);
  }
  if (channels < 1 || channels > MOST_CHANNELS) {
    throw new Refusal(`have 1 to ${MOST_CHANNELS} channels`, String(channels));
  }
  if (rate < LOWEST_RATE || rate > HIGHEST_RATE) {
    throw new Refusal(`have ${LOWEST_RATE} to ${HIGHEST_RATE} samples a second`, String(rate));
  }
  if (frame !== (channels * bits) / 8) {
    throw new Refusal(
      `be WAV whose blocks fit its samples (${(channels * bits) / 8} bytes)`,
      `blocks of ${frame} bytes`,
    );
  }
  return { rate, frame };
}
