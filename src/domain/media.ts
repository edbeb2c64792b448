// Images and sound in a conversation: what the client refers to, and what the engine receives.

/** The medium of a message part, as the client sent it. */
export type MediaSource = ImageSource | SoundSource;
export type MediaKind = MediaSource["kind"];

export interface ImageSource {
  readonly kind: "image";
  readonly url: string;
  readonly detail: "auto" | "low" | "high";
  /** Set for a document, which no model accepts as an image: its text is recognised instead. */
  readonly isDocument?: true;
  /** Languages of the text in the image, as named by the client. */
  readonly languages?: readonly string[];
}

export interface SoundSource {
  readonly kind: "audio";
  readonly data: string;
  readonly format?: string;
  /** Language of the speech, as named by the client. */
  readonly language?: string;
}

/** A medium that is ready for the engine. `id` is the hash of its content: equal media share one cache entry. */
export type Media = ImageMedia | AudioMedia;

export interface ImageMedia {
  readonly kind: "image";
  readonly id: string;
  /** Size in pixels. */
  readonly width: number;
  readonly height: number;
  /** Rows from top to bottom, three bytes per pixel, no padding. */
  readonly rgb: Uint8Array;
}

interface AudioMedia {
  readonly kind: "audio";
  readonly id: string;
  /** The file as received, not decoded. */
  readonly bytes: Uint8Array;
}

/** Longest URL of a medium, other than a data: URL. */
export const LONGEST_URL = 8192;

/** Returns the scheme of a URL in lower case, or undefined for a path. A single letter is a drive, not a scheme. */
export const urlScheme = (url: string): string | undefined =>
  /^([a-z][a-z0-9+.-]+):/i.exec(url.slice(0, 32))?.[1]?.toLowerCase();

/** Returns the pixels of an image or the file of a sound. */
export const contentOf = (media: Media): Uint8Array => (media.kind === "image" ? media.rgb : media.bytes);

/** Returns the medium with other content. */
export const withContent = (media: Media, content: Uint8Array): Media =>
  media.kind === "image" ? { ...media, rgb: content } : { ...media, bytes: content };
