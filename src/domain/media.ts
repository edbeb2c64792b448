// Pictures and sound in a conversation: what a client refers to, and what the engine gets.

/** What a message part refers to, as the client sent it. */
export type MediaSource = ImageSource | SoundSource;
export type MediaKind = MediaSource["kind"];

export interface ImageSource {
  readonly kind: "image";
  readonly url: string;
  readonly detail: "auto" | "low" | "high";
  /** A file of pages, which no model takes: it is read. */
  readonly isDocument?: true;
  /** Of the text in it, as the client says them. */
  readonly languages?: readonly string[];
}

export interface SoundSource {
  readonly kind: "audio";
  readonly data: string;
  readonly format?: string;
  /** Of its speech, as the client says it. */
  readonly language?: string;
}

/** Decoded and ready for the engine. `id` is the hash of the decoded content: equal pictures share one cache entry. */
export type Media = ImageMedia | AudioMedia;

export interface ImageMedia {
  readonly kind: "image";
  readonly id: string;
  /** Pixels. */
  readonly width: number;
  readonly height: number;
  /** Rows from the top, three bytes a pixel, no padding. */
  readonly rgb: Uint8Array;
}

export interface AudioMedia {
  readonly kind: "audio";
  readonly id: string;
  /** The file as it came: checked, not decoded. */
  readonly bytes: Uint8Array;
  readonly format: "wav" | "mp3" | "flac";
}

/** The pixels of an image, or the file of a sound. */
export const contentOf = (media: Media): Uint8Array => (media.kind === "image" ? media.rgb : media.bytes);

/** The same with other content. */
export const withContent = (media: Media, content: Uint8Array): Media =>
  media.kind === "image" ? { ...media, rgb: content } : { ...media, bytes: content };
