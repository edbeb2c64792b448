// Detects file formats by their first bytes; labels and file names are not trusted.

import { READINGS, soundFormat, tagBytes, type SoundFormat } from "../audio/decode/format.ts";

export type ImageFormat = "png" | "jpeg" | "webp" | "gif" | "bmp";
/** Documents, and images that the runtime alone cannot decode. */
export type DocumentFormat = ImageFormat | "tiff" | "heic" | "pdf";

interface Signature {
  readonly at?: number;
  readonly text: string;
  readonly name: string;
}

/** Signatures in Latin-1 of what is no sound; formats that nothing reads are there for error messages. */
const signatures: readonly Signature[] = [
  { text: "\x89PNG\r\n\x1a\n", name: "png" },
  { text: "\xff\xd8\xff", name: "jpeg" },
  { text: "GIF87a", name: "gif" },
  { text: "GIF89a", name: "gif" },
  { at: 8, text: "WEBP", name: "webp" },
  { at: 4, text: "ftypavi", name: "an AVIF image" },
  { at: 4, text: "ftyphei", name: "heic" },
  { at: 4, text: "ftyphev", name: "heic" },
  { at: 4, text: "ftypmif1", name: "heic" },
  { at: 4, text: "ftypmsf1", name: "heic" },
  { text: "II*\0", name: "tiff" },
  { text: "MM\0*", name: "tiff" },
  { text: "%PDF", name: "pdf" },
  { text: "PK\x03\x04", name: "a ZIP archive" },
  { text: "\x1f\x8b", name: "gzip data" },
  { text: "\xff\x4f\xff\x51", name: "a JPEG 2000 image" },
  { text: "\0\0\0\x0cjP  ", name: "a JPEG 2000 image" },
  { text: "\0\0\0\x0cJXL ", name: "a JPEG XL image" },
  { text: "\0\0\x01\0", name: "an ICO image" },
  // Last, since two letters may begin much else.
  { text: "BM", name: "bmp" },
];

const articles: Readonly<Record<string, string>> = {
  png: "a PNG image",
  jpeg: "a JPEG image",
  webp: "a WebP image",
  gif: "a GIF image",
  bmp: "a BMP image",
  tiff: "a TIFF image",
  heic: "a HEIC image",
  pdf: "a PDF document",
};

/** Returns the format of an image that can be decoded here; undefined for everything else. */
export function imageFormat(bytes: Uint8Array): ImageFormat | undefined {
  const name = known(bytes);
  return name === "png" || name === "jpeg" || name === "webp" || name === "gif" || name === "bmp" ? name : undefined;
}

/** Bytes in which a PDF may begin, as other readers have it. */
const PDF_HEAD = 1024;

/** Returns the format of a file with pages to recognise; undefined for everything else. */
export function documentFormat(bytes: Uint8Array): DocumentFormat | undefined {
  const name = known(bytes);
  if (name === "tiff" || name === "heic" || name === "pdf") return name;
  return imageFormat(bytes) ?? (latin1(bytes.subarray(0, PDF_HEAD)).includes("%PDF-") ? "pdf" : undefined);
}

/** Returns the format of a sound file; undefined for everything else. */
export function audioFormat(bytes: Uint8Array): SoundFormat | undefined {
  // Images may be in a container for films.
  if (known(bytes)) return undefined;
  const tag = tagBytes(bytes);
  return soundFormat(bytes.subarray(tag), tag > 0);
}

/** Describes these bytes for an error message: `a PDF document`. */
export function describeType(bytes: Uint8Array): string {
  const name = known(bytes);
  if (name) return articles[name] ?? name;
  const sound = audioFormat(bytes);
  if (sound) return READINGS[sound].name.replace(/^(?!an? ).*/, "$& audio");
  const head = bytes.subarray(0, 512);
  if (head.some((byte) => byte < 9 || (byte > 13 && byte < 32))) return "data of an unknown type";
  const text = latin1(head).trimStart().toLowerCase();
  if (!text.startsWith("<")) return "text";
  return text.includes("<svg") ? "an SVG image" : text.includes("<html") ? "an HTML page" : "an XML or HTML document";
}

// TextDecoder cannot be used: its latin1 is windows-1252.
const latin1 = (bytes: Uint8Array): string => String.fromCharCode(...bytes);

function known(bytes: Uint8Array): string | undefined {
  const head = latin1(bytes.subarray(0, 16));
  const riff = head.startsWith("RIFF");
  return signatures.find(({ at = 0, text }) => head.startsWith(text, at) && (at !== 8 || riff))?.name;
}
