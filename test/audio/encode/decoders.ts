// Reads sound files directly from their specifications; every checksum is verified.

/** A decoded file. */
export interface Decoded {
  readonly sampleRate: number;
  readonly samples: Int16Array;
  /** Number of samples according to the header; undefined when the header leaves it open. */
  readonly promised: number | undefined;
}

const int16 = (bytes: Uint8Array) => new Int16Array(new Uint8Array(bytes).buffer);

export function decodeWav(file: Buffer): Decoded {
  if (file.toString("latin1", 0, 4) !== "RIFF" || file.toString("latin1", 8, 16) !== "WAVEfmt ")
    throw new Error("head");
  const [coding, channels, bits] = [file.readUInt16LE(20), file.readUInt16LE(22), file.readUInt16LE(34)];
  if (coding !== 1 || channels !== 1 || bits !== 16 || file.toString("latin1", 36, 40) !== "data")
    throw new Error("fmt");
  const size = file.readUInt32LE(40);
  const isOpen = size === 0xffff_ffff && file.readUInt32LE(4) === 0xffff_ffff;
  if (!isOpen && file.readUInt32LE(4) !== size + 36) throw new Error("sizes");
  return {
    sampleRate: file.readUInt32LE(24),
    samples: int16(file.subarray(44)),
    promised: isOpen ? undefined : size / 2,
  };
}

export function decodeCaf(file: Buffer): Decoded {
  if (file.toString("latin1", 0, 4) !== "caff" || file.toString("latin1", 28, 32) !== "lpcm") throw new Error("head");
  const [flags, bytes, frames, channels, bits] = [32, 36, 40, 44, 48].map((at) => file.readUInt32BE(at));
  if (flags !== 2 || bytes !== 2 || frames !== 1 || channels !== 1 || bits !== 16) throw new Error("desc");
  const size = file.readBigInt64BE(56);
  return {
    sampleRate: file.readDoubleBE(20),
    samples: int16(file.subarray(68)),
    promised: size === -1n ? undefined : (Number(size) - 4) / 2,
  };
}

/** Returns the remainder of a polynomial division, bit by bit. */
function remainder(bytes: Uint8Array, bits: number, polynomial: bigint): number {
  let value = 0n;
  const top = 1n << BigInt(bits);
  for (const byte of bytes) {
    for (let bit = 7; bit >= 0; bit--) {
      value ^= BigInt((byte >> bit) & 1) << BigInt(bits - 1);
      value <<= 1n;
      if (value & top) value ^= top | polynomial;
    }
  }
  return Number(value);
}

/**
 * Decodes FLAC of one channel and 16 bits: constant and fixed subframes, frames with checksums and consecutive
 * numbers.
 */
export function decodeFlac(file: Buffer): Decoded {
  if (file.toString("latin1", 0, 4) !== "fLaC" || file.readUInt32BE(4) !== 0x8000_0022) throw new Error("head");
  const rateAndMore = file.readUInt32BE(18);
  const total = (file.readUInt8(21) & 15) * 2 ** 32 + file.readUInt32BE(22);
  if (((rateAndMore >> 9) & 7) !== 0 || ((rateAndMore >> 4) & 31) !== 15) throw new Error("channels or bits");
  let bit = 42 * 8;
  const read = (count: number): number => {
    let value = 0;
    for (; count > 0; count--, bit++) value = value * 2 + (((file[bit >> 3] ?? 0) >> (7 - (bit & 7))) & 1);
    return value;
  };
  const signed = (count: number): number => {
    const value = read(count);
    return value >= 2 ** (count - 1) ? value - 2 ** count : value;
  };
  const samples: number[] = [];
  for (let frame = 0; bit < file.length * 8; frame++) {
    const start = bit >> 3;
    if (read(16) !== 0xfff8) throw new Error("no frame here");
    const [size, rate] = [read(4), read(4)];
    if (rate !== 13 || read(8) !== 8) throw new Error("rate, channels or bits of a frame");
    if (readNumber(read) !== frame) throw new Error("number of a frame");
    const length = size === 7 ? read(16) + 1 : 256 << (size - 8);
    if (read(16) !== rateAndMore >>> 12) throw new Error("another rate");
    const head = remainder(file.subarray(start, bit >> 3), 8, 0x07n);
    if (read(8) !== head) throw new Error("checksum of a head");
    samples.push(...readSubframe(length, read, signed));
    bit = Math.ceil(bit / 8) * 8;
    const body = remainder(file.subarray(start, bit >> 3), 16, 0x8005n);
    if (read(16) !== body) throw new Error("checksum of a frame");
  }
  return { sampleRate: rateAndMore >>> 12, samples: Int16Array.from(samples), promised: total || undefined };
}

type Read = (bits: number) => number;

function readNumber(read: Read): number {
  const first = read(8);
  if (first < 0x80) return first;
  const following = Math.clz32(~(first << 24)) - 1;
  let value = first & (0x3f >> following);
  for (let left = following; left > 0; left--) value = value * 64 + (read(8) & 63);
  return value;
}

function readSubframe(length: number, read: Read, signed: Read): number[] {
  const kind = read(8) >> 1;
  if (kind === 0) return Array<number>(length).fill(signed(16));
  if (kind < 8 || kind > 12) throw new Error(`subframe ${kind}`);
  const order = kind - 8;
  const samples = Array.from({ length: order }, () => signed(16));
  if (read(2) !== 0) throw new Error("coding of the residual");
  const parts = 2 ** read(4);
  for (let part = 0; part < parts; part++) {
    const parameter = read(4);
    for (let left = length / parts - (part === 0 ? order : 0); left > 0; left--) {
      let quotient = 0;
      while (read(1) === 0) quotient++;
      const folded = quotient * 2 ** parameter + read(parameter);
      const [a = 0, b = 0, c = 0, d = 0] = samples.slice(-4).reverse();
      const foreseen = [0, a, 2 * a - b, 3 * a - 3 * b + c, 4 * a - 6 * b + 4 * c - d][order] ?? 0;
      samples.push(foreseen + (folded & 1 ? -(folded + 1) / 2 : folded / 2));
    }
  }
  return samples;
}

export interface OggPage {
  readonly flags: number;
  readonly position: number;
  readonly packets: readonly Uint8Array[];
}

/** Reads the pages of an Ogg file with one stream; no page may hold part of a packet. */
export function readOgg(file: Buffer): OggPage[] {
  const pages: OggPage[] = [];
  for (let at = 0; at < file.length;) {
    if (file.toString("latin1", at, at + 4) !== "OggS") throw new Error("no page here");
    if (file.readUInt32LE(at + 18) !== pages.length) throw new Error("number of a page");
    const lacing = file.subarray(at + 27, at + 27 + file.readUInt8(at + 26));
    let start = at + 27 + lacing.length;
    const packets: Uint8Array[] = [];
    let length = 0;
    for (const segment of lacing) {
      length += segment;
      if (segment === 255) continue;
      packets.push(file.subarray(start, start + length));
      [start, length] = [start + length, 0];
    }
    if (length > 0) throw new Error("a part of a packet");
    const page = Buffer.from(file.subarray(at, start));
    page.writeUInt32LE(0, 22);
    if (remainder(page, 32, 0x04c1_1db7n) !== file.readUInt32LE(at + 22)) throw new Error("checksum of a page");
    pages.push({ flags: file.readUInt8(at + 5), position: Number(file.readBigInt64LE(at + 6)), packets });
    at = start;
  }
  return pages;
}

/** Counts the samples of an MPEG-2 layer III file with a single rate, from its frame headers. */
export function mp3Samples(file: Buffer): { samples: number; sampleRate: number } {
  const kilobits = [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160];
  const sampleRate = 24_000;
  let samples = 0;
  for (let at = 0; at < file.length;) {
    const head = file.readUInt32BE(at);
    // Sync word, MPEG-2, layer III, no checksum; 24 kHz.
    if (head >>> 16 !== 0xfff3 || ((head >> 10) & 3) !== 1) throw new Error(`no frame at ${at}`);
    at += Math.floor((72 * 1000 * (kilobits[(head >> 12) & 15] ?? 0)) / sampleRate) + ((head >> 9) & 1);
    samples += 576;
  }
  return { samples, sampleRate };
}

/** Counts the samples of an AAC file in ADTS, from its frame headers. */
export function aacSamples(file: Buffer): { samples: number; sampleRate: number } {
  let samples = 0;
  for (let at = 0; at < file.length;) {
    if (file.readUInt16BE(at) !== 0xfff1) throw new Error(`no frame at ${at}`);
    // AAC-LC, 24 kHz, one channel.
    if ((file.readUInt16BE(at + 2) & 0xffc0) !== ((1 << 14) | (6 << 10) | (1 << 6))) throw new Error("coding");
    at += (file.readUInt32BE(at + 3) >> 13) & 0x1fff;
    samples += 1024;
  }
  return { samples, sampleRate: 24_000 };
}
