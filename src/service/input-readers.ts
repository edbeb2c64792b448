// Reads for models that cannot see or hear: media in a conversation as text.

import type { ReadInput, RecognizedInput, TranscribedInput } from "../domain/generate.ts";
import { newRequestId } from "../domain/ids.ts";
import type { ImageSource, MediaKind, MediaSource, SoundSource } from "../domain/media.ts";
import type { RequestOrigin } from "../domain/request-origin.ts";
import type { MediaPart } from "../media/load-all.ts";
import { inSlices } from "../media/slices.ts";
import { BoundedStore } from "../store/bounded-store.ts";

/** A part of a request: it ends with that, which alone is known by its id. */
export interface Part extends RequestOrigin {
  readonly partOf: true;
}

/** All that is known of a medium but where it stood. */
export type ReadText = Omit<TranscribedInput, "param"> | Omit<RecognizedInput, "param">;

/** A medium that is to be read. */
export interface Readable {
  /** What its text depends on: its content, and how it is read. */
  readonly content: string | Uint8Array;
  readonly manner: string;
  /** Throws SvcError about it that names its field, what the engine throws, or the signal's reason. */
  read(part: Part, signal: AbortSignal): Promise<ReadText>;
}

/** How one kind of media is read. */
export interface InputReader<Source extends MediaSource> {
  /** Throws SvcError `invalid_value` at the field, or the signal's reason. */
  open(source: Source, param: string, signal: AbortSignal): Promise<Readable>;
}

/** Texts that are remembered, in characters: chats send their media again with each turn. */
const REMEMBERED = { count: 256, bytes: 1_000_000 };

export class InputReaders {
  /** By the hash of content and manner. */
  private readonly remembered = new BoundedStore<ReadText>(REMEMBERED);

  /** A kind without a reader is not read. */
  constructor(
    private readonly readers: {
      readonly image?: InputReader<ImageSource>;
      readonly audio?: InputReader<SoundSource>;
    },
  ) {}

  reads(kind: MediaKind): boolean {
    return this.readers[kind] !== undefined;
  }

  /** The text of a medium whose kind is read here. Throws what its reader throws. */
  async read(
    { source, param }: MediaPart,
    { client, deadline, background }: RequestOrigin,
    signal: AbortSignal,
  ): Promise<ReadInput> {
    const { image, audio } = this.readers;
    const readable = await (source.kind === "image"
      ? image?.open(source, param, signal)
      : audio?.open(source, param, signal));
    if (!readable) throw new TypeError(`Nothing here reads ${source.kind} input.`);
    const { content, manner } = readable;
    const hasher = new Bun.CryptoHasher("sha256").update(`${source.kind} ${manner} `);
    await inSlices(content.length, signal, (from, to) => hasher.update(content.slice(from, to)));
    const key = hasher.digest("base64");
    const part = { id: newRequestId(), partOf: true, client, deadline, background } as const;
    const text = this.remembered.get(key) ?? (await readable.read(part, signal));
    // Also what was known: the one that was used last goes last.
    this.remembered.put(key, text, text.text.length);
    return { param, ...text };
  }
}
