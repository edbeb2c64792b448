// A tone as WAV files of every kind, and measuring the pitch of a tone.

/** The tone in all sounds of these tests, in Hz. */
export const TONE = 440;

export interface WavShape {
  readonly seconds: number;
  readonly rate?: number;
  readonly channels?: number;
  readonly coding?: "pcm" | "float" | "a-law" | "mu-law";
  readonly bits?: 8 | 16 | 24 | 32 | 64;
  /** Whether the header has the extended form, with the coding in a GUID. */
  readonly extensible?: boolean;
  /** Whether the file begins like files of more than 4 GB (RF64), with 64-bit lengths. */
  readonly long?: boolean;
  /** The length in the header; by default the true length. */
  readonly dataBytes?: number;
}

const CODINGS = { pcm: 1, float: 3, "a-law": 6, "mu-law": 7 } as const;
const GUID_TAIL = "000000001000800000aa00389b71";

/** Returns a tone as a WAV file. */
export function wav(shape: WavShape): Uint8Array<ArrayBuffer> {
  const { seconds, rate = 16_000, channels = 1, coding = "pcm", extensible = false } = shape;
  const bits = shape.bits ?? (coding === "float" ? 32 : coding === "pcm" ? 16 : 8);
  const frames = Math.round(seconds * rate);
  const frame = (channels * bits) / 8;
  const head = new DataView(new ArrayBuffer(extensible ? 68 : 44));
  const text = (at: number, word: string) => [...word].forEach((sign, i) => head.setUint8(at + i, sign.charCodeAt(0)));
  text(0, "RIFF");
  head.setUint32(4, head.byteLength - 8 + frames * frame, true);
  text(8, "WAVEfmt ");
  head.setUint32(16, extensible ? 40 : 16, true);
  head.setUint16(20, extensible ? 0xfffe : CODINGS[coding], true);
  head.setUint16(22, channels, true);
  head.setUint32(24, rate, true);
  head.setUint32(28, rate * frame, true);
  head.setUint16(32, frame, true);
  head.setUint16(34, bits, true);
  if (extensible) {
    head.setUint16(36, 22, true);
    head.setUint16(38, bits, true);
    head.setUint16(44, CODINGS[coding], true);
    Buffer.from(GUID_TAIL, "hex").forEach((byte, index) => head.setUint8(46 + index, byte));
  }
  text(head.byteLength - 8, "data");
  head.setUint32(head.byteLength - 4, shape.dataBytes ?? frames * frame, true);
  const sound = new DataView(new ArrayBuffer(frames * frame));
  for (let index = 0; index < frames; index++) {
    const value = 0.5 * Math.sin((2 * Math.PI * TONE * index) / rate);
    for (let channel = 0; channel < channels; channel++) {
      write(sound, index * frame + (channel * bits) / 8, value, coding, bits);
    }
  }
  const file = Buffer.concat([Buffer.from(head.buffer), Buffer.from(sound.buffer)]);
  return shape.long === true ? longForm(file, head.byteLength, shape.dataBytes ?? frames * frame) : file;
}

/** Converts a file to RF64 (EBU 3306). */
function longForm(file: Buffer<ArrayBuffer>, headBytes: number, dataBytes: number): Buffer<ArrayBuffer> {
  const lengths = Buffer.alloc(8 + 28);
  lengths.write("ds64", "latin1");
  lengths.writeUInt32LE(28, 4);
  lengths.writeBigUInt64LE(BigInt(file.length - 8 + lengths.length), 8);
  lengths.writeBigUInt64LE(BigInt(dataBytes), 16);
  file.write("RF64\xff\xff\xff\xff", "latin1");
  file.writeUInt32LE(0xffff_ffff, headBytes - 4);
  return Buffer.concat([file.subarray(0, 12), lengths, file.subarray(12)]);
}

function write(view: DataView, at: number, value: number, coding: keyof typeof CODINGS, bits: number): void {
  if (coding === "mu-law") return view.setUint8(at, muLaw(value));
  if (coding === "a-law") return view.setUint8(at, aLaw(value));
  if (coding === "float") return bits === 64 ? view.setFloat64(at, value, true) : view.setFloat32(at, value, true);
  if (bits === 8) return view.setUint8(at, 128 + Math.round(value * 127));
  if (bits === 16) return view.setInt16(at, Math.round(value * 32_767), true);
  if (bits === 32) return view.setInt32(at, Math.round(value * 0x7fff_ffff), true);
  const whole = Math.round(value * 0x7f_ffff);
  view.setUint16(at, whole & 0xffff, true);
  view.setInt8(at + 2, whole >> 16);
}

/** Returns the value in G.711 µ-law. */
function muLaw(value: number): number {
  const size = Math.min(Math.round(Math.abs(value) * 32_767) + 132, 32_635);
  const exponent = 31 - Math.clz32(size) - 7;
  return ~((value < 0 ? 0x80 : 0) | (exponent << 4) | ((size >> (exponent + 3)) & 15)) & 0xff;
}

function aLaw(value: number): number {
  const size = Math.min(Math.round(Math.abs(value) * 32_767), 32_767);
  const exponent = Math.max(31 - Math.clz32(size) - 7, 0);
  const mantissa = (size >> (exponent === 0 ? 4 : exponent + 3)) & 15;
  return ((value < 0 ? 0 : 0x80) | (exponent << 4) | mantissa) ^ 0x55;
}

/** Returns an MP4 box or another chunk with its length before its name. */
export function box(name: string, ...content: readonly Uint8Array[]): Buffer<ArrayBuffer> {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(8 + content.reduce((sum, part) => sum + part.length, 0));
  return Buffer.concat([length, Buffer.from(name, "latin1"), ...content]);
}

/** Returns the pitch of a tone in Hz, from its upward zero crossings. */
export function frequency(samples: Float32Array, rate = 16_000): number {
  const middle = samples.subarray(Math.floor(samples.length * 0.1), Math.floor(samples.length * 0.9));
  let first = -1;
  let last = 0;
  let count = 0;
  for (let at = 1; at < middle.length; at++) {
    if (!((middle[at - 1] ?? 0) < 0 && (middle[at] ?? 0) >= 0)) continue;
    if (first < 0) first = at;
    else count++;
    last = at;
  }
  return (count * rate) / (last - first);
}
