// Detects sound formats by the first bytes of a file; labels and file names are not trusted.

/** How a format is read. With neither `container` nor `isForeign`, the native library does. */
export interface FormatReading {
  /** As error messages name it. */
  readonly name: string;
  /** Its number in the container decoder. */
  readonly container?: number;
  /** Only the host's ffmpeg reads it. */
  readonly isForeign?: true;
  /** ffmpeg's demuxer, where its name is another. */
  readonly demuxer?: string;
}

export const READINGS = {
  wav: { name: "WAV" },
  mp3: { name: "MP3" },
  flac: { name: "FLAC" },
  mp4: { name: "an MP4 file", container: 0, demuxer: "mov" },
  webm: { name: "a WebM file", container: 1, demuxer: "matroska" },
  ogg: { name: "Ogg", container: 2 },
  aac: { name: "AAC", container: 3 },
  aiff: { name: "AIFF", container: 4 },
  caf: { name: "CAF", container: 5 },
  amr: { name: "AMR", isForeign: true },
  asf: { name: "ASF/WMA", isForeign: true },
  au: { name: "AU", isForeign: true },
  avi: { name: "an AVI file", isForeign: true },
  flv: { name: "an FLV file", isForeign: true },
  mp2: { name: "MP2", isForeign: true, demuxer: "mp3" },
  mpeg: { name: "an MPEG program stream", isForeign: true },
  mpegts: { name: "an MPEG transport stream", isForeign: true },
  speex: { name: "Ogg with Speex", isForeign: true, demuxer: "ogg" },
  w64: { name: "Wave64", isForeign: true },
  wavpack: { name: "WavPack", isForeign: true, demuxer: "wv" },
} as const satisfies Readonly<Record<string, FormatReading>>;
export type SoundFormat = keyof typeof READINGS;

/** The formats that svc reads by itself, for error messages. */
export const SOUND_FORMATS = "WAV, MP3, FLAC, Ogg, WebM, M4A/MP4, AAC, AIFF or CAF";

/** Bytes of a packet in an MPEG transport stream, each of which begins with the letter G. */
const TRANSPORT_PACKET = 188;

/** Bytes to examine; after an ID3 tag, as many again. */
export const HEAD_BYTES = 2 * TRANSPORT_PACKET + 1;

interface Signature {
  readonly at: number;
  readonly text: string;
  readonly format: SoundFormat;
}

/** Signatures in Latin-1. */
const signatures: readonly Signature[] = [
  { at: 8, text: "WAVE", format: "wav" },
  { at: 0, text: "fLaC", format: "flac" },
  // The container decoder looks for another track until the end of the file.
  { at: 28, text: "Speex   ", format: "speex" },
  { at: 0, text: "OggS", format: "ogg" },
  { at: 0, text: "\x1aE\xdf\xa3", format: "webm" },
  { at: 4, text: "ftyp", format: "mp4" },
  // QuickTime files may begin with any of its boxes.
  { at: 4, text: "moov", format: "mp4" },
  { at: 4, text: "mdat", format: "mp4" },
  { at: 4, text: "wide", format: "mp4" },
  { at: 8, text: "AIFF", format: "aiff" },
  { at: 8, text: "AIFC", format: "aiff" },
  { at: 0, text: "caff", format: "caf" },
  { at: 0, text: "#!AMR", format: "amr" },
  { at: 0, text: "\x30\x26\xb2\x75\x8e\x66\xcf\x11", format: "asf" },
  { at: 0, text: ".snd", format: "au" },
  { at: 8, text: "AVI ", format: "avi" },
  { at: 0, text: "FLV\x01", format: "flv" },
  { at: 0, text: "\0\0\x01\xba", format: "mpeg" },
  { at: 0, text: "riff\x2e\x91\xcf\x11", format: "w64" },
  { at: 0, text: "wvpk", format: "wavpack" },
];

/** What a file begins with whose signature comes later. */
const beginnings: Partial<Record<SoundFormat, readonly string[]>> = {
  wav: ["RIFF", "RF64"],
  avi: ["RIFF"],
  aiff: ["FORM"],
  speex: ["OggS"],
};

/** Returns the format of a file with this head; undefined when it is not supported. `tagged`: an ID3 tag precedes. */
export function soundFormat(head: Uint8Array, tagged = false): SoundFormat | undefined {
  const text = String.fromCharCode(...head.subarray(0, HEAD_BYTES));
  const found = signatures.find(
    ({ at, text: word, format }) =>
      text.startsWith(word, at) && (beginnings[format]?.some((start) => text.startsWith(start)) ?? true),
  );
  if (found) return found.format;
  const [sync = 0, kind = 0] = head;
  // AAC: twelve set bits and layer 0. MP2 and MP3: eleven set bits and layer II or III.
  if (sync === 0xff && (kind & 0xf6) === 0xf0) return "aac";
  if (sync === 0xff && (kind & 0xe6) === 0xe4) return "mp2";
  if (tagged || (sync === 0xff && (kind & 0xe6) === 0xe2)) return "mp3";
  return [0, 1, 2].every((packet) => text[packet * TRANSPORT_PACKET] === "G") ? "mpegts" : undefined;
}

/** Returns the bytes of the ID3 tag at the beginning; 0 without one. Its length is coded with seven bits per byte. */
export function tagBytes(head: Uint8Array): number {
  if (head[0] !== 0x49 || head[1] !== 0x44 || head[2] !== 0x33 || head.length < 10) return 0;
  const [a = 0, b = 0, c = 0, d = 0] = head.subarray(6, 10);
  return 10 + (((a & 127) << 21) | ((b & 127) << 14) | ((c & 127) << 7) | (d & 127));
}
