// Turns media in a conversation into text, for models that cannot see or hear.

import { SvcError } from "../domain/errors.ts";
import type { ReadInput, RecognizedInput, TranscribedInput } from "../domain/generate.ts";
import { newRequestId } from "../domain/ids.ts";
import type { ImageSource, MediaKind, MediaSource, SoundSource } from "../domain/media.ts";
import type { RequestOrigin } from "../domain/request-origin.ts";
import type { MediaPart } from "../media/load-all.ts";
import { inSlices } from "../media/slices.ts";
import { BoundedStore } from "../store/bounded-store.ts";

/** The text of a medium and what is known about it, without its field. */
export type ReadText = Omit<TranscribedInput, "param"> | Omit<RecognizedInput, "param">;

/** A medium to be read. */
export interface Readable {
  /** The text depends on these two: the content, and how it is read. */
  readonly content: string | Uint8Array;
  readonly manner: string;
  /** Reads the medium. Throws SvcError that names its field, what the engine throws, or the signal's reason. */
  read(origin: RequestOrigin, signal: AbortSignal): Promise<ReadText>;
}

/** How one kind of media is read. */
export interface InputReader<Source extends MediaSource> {
  /** Opens a medium. Throws SvcError `invalid_value` about the field, or the signal's reason. */
  open(source: Source, param: string, signal: AbortSignal): Promise<Readable>;
}

/** Limits of the text cache; `bytes` counts characters. Chats send their media again with each turn. */
const REMEMBERED = { count: 256, bytes: 1_000_000 };

export class InputReaders {
  /** Texts by the hash of kind, manner and content. */
  private readonly remembered = new BoundedStore<ReadText>(REMEMBERED);

  /** Media of a kind without a reader are not read. */
  constructor(
    private readonly readers: {
      readonly image?: InputReader<ImageSource>;
      readonly audio?: InputReader<SoundSource>;
    },
  ) {}

  reads(kind: MediaKind): boolean {
    return this.readers[kind] !== undefined;
  }

  /** Returns the text of a medium whose kind has a reader. Throws what the reader throws. */
  async read(
    { source, param }: MediaPart,
    { client, holder, deadline, background }: RequestOrigin,
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
    // Its id is its own: only the whole request can be cancelled.
    const part = { id: newRequestId(), partOf: "placed", client, holder, deadline, background } as const;
    const text = this.remembered.get(key) ?? (await readable.read(part, signal).catch(throwCounted));
    // Also after a hit, so that the least recently used text is evicted first.
    this.remembered.put(key, text, text.text.length);
    return { param, ...text };
  }
}

/** Throws the error of a part, whose refusal counts for its own model and not for the one of the whole request. */
function throwCounted(error: unknown): never {
  if (!(error instanceof SvcError)) throw error;
  const { busy: _, ...details } = error.details;
  throw new SvcError(error.code, error.message, details);
}
