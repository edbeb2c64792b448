// Loads the images and sounds of a request's messages, each in a form that the model takes.

import { SvcError } from "../domain/errors.ts";
import {
  joinedParts,
  mediaOf,
  type ChatMessage,
  type ContentPart,
  type GenerateRequest,
  type MediaPart,
  type ReadInput,
} from "../domain/generate.ts";
import type { MediaKind, MediaSource } from "../domain/media.ts";
import type { MediaLimits } from "../media/limits.ts";
import { checkCount, inlineAll, loadAll } from "../media/load-all.ts";
import type { InputReaders } from "./input-readers.ts";
import type { TextBackend } from "./model-router.ts";

interface MediaOptions {
  readonly limits: MediaLimits;
  /** Reads images and sounds for models that cannot; absent: such media are refused. */
  readonly readers?: InputReaders;
  /** Called with the bytes of each medium that the model takes. Its errors are thrown on. */
  readonly hold: (bytes: number) => void;
}

/** A request with its media, and the media that became text. */
export interface LoadedRequest {
  readonly request: GenerateRequest;
  readonly readInputs: readonly ReadInput[];
}

/**
 * Returns the request with its media loaded, or the same request if there are none. Backends elsewhere get no URL to
 * fetch, as they may reach what clients must not. Throws SvcError `unsupported_media_input` when the model cannot take a
 * kind of media, `invalid_value` about a medium that cannot be loaded, what the readers throw, or the signal's reason.
 */
export async function withMedia(
  request: GenerateRequest,
  backend: TextBackend,
  { limits, readers, hold }: MediaOptions,
  signal: AbortSignal,
): Promise<LoadedRequest> {
  const parts = request.messages.flatMap(mediaOf);
  if (parts.length === 0) return { request, readInputs: [] };
  const takes = await takenBy(backend, signal);
  const isTaken = ({ source }: MediaPart) => takes[source.kind] && !isDocument(source);
  const untaken = parts.filter((part) => !isTaken(part));
  for (const part of untaken) if (!readers?.reads(part.source.kind)) throw unsupported(part, backend);
  if (untaken.length > 0) checkCount(parts, limits);
  const readInputs: ReadInput[] = [];
  const others = new Map<ContentPart, ContentPart>();
  for (const part of untaken) {
    if (!readers) break;
    const input = await readers.read(part, request, signal);
    readInputs.push(input);
    others.set(part, { type: "text", text: input.text || NO_TEXT });
  }
  const loadable = parts.filter(isTaken);
  if (backend.takesMediaSources) {
    const inlined = await inlineAll(loadable, limits, signal, hold);
    for (const [part, source] of inlined) others.set(part, { ...part, source });
  }
  if (backend.takesMediaSources || loadable.length === 0) return { request: withParts(request, others), readInputs };
  const media = await loadAll(loadable, limits, signal, hold);
  // Sent to the engine with the messages, it would be megabytes without a use.
  for (const part of loadable) others.set(part, { ...part, source: withoutData(part.source) });
  return { request: { ...withParts(request, others), media }, readInputs };
}

const withoutData = (source: MediaSource): MediaSource =>
  source.kind === "image" ? { ...source, url: "" } : { ...source, data: "" };

/** Returns which kinds a model takes. A local model reports this once it is loaded, so the function waits for that. */
async function takenBy(
  { engine, surface, takesMediaSources, lacks }: TextBackend,
  signal: AbortSignal,
): Promise<Record<MediaKind, boolean>> {
  if (surface) return { image: false, audio: false };
  if (takesMediaSources) return { image: !lacks?.("image"), audio: !lacks?.("audio") };
  if (!engine.status().model) await engine.tokenize("", signal);
  const { vision = true, audio = true } = engine.status().model ?? {};
  return { image: vision, audio };
}

/** Replaces a picture without text: leaving it out would change the question. */
const NO_TEXT = "(A picture in which no text was found.)";

/** Replaces parts of the messages. */
function withParts(request: GenerateRequest, others: ReadonlyMap<ContentPart, ContentPart>): GenerateRequest {
  if (others.size === 0) return request;
  const messages = request.messages.map((message): ChatMessage => {
    const { content } = message;
    if (typeof content === "string") return message;
    return { ...message, content: joinedParts(content.map((part) => others.get(part) ?? part)) };
  });
  return { ...request, messages };
}

const isDocument = (source: MediaSource): boolean => source.kind === "image" && source.isDocument === true;

const REMEDIES: Readonly<Record<MediaKind | "document", string>> = {
  image: "Start svc with --ocr-input to read the text in images.",
  audio: "Start svc with --transcribe-input to transcribe speech.",
  document: "Start svc with --ocr-input to read the text in documents.",
};
/** The same for svc's own models, which may only lack their projector. */
const OWN_REMEDIES: typeof REMEDIES = {
  ...REMEDIES,
  image: "A vision model needs its projector (--mmproj); for others, --ocr-input reads the text in images.",
  audio: "An audio model needs its projector (--mmproj); for others, --transcribe-input transcribes speech.",
};

function unsupported({ source, param }: MediaPart, { surface, takesMediaSources }: TextBackend): SvcError {
  const kind = isDocument(source) ? "document" : source.kind;
  const what = kind === "document" ? "documents" : `${kind} input`;
  const remedies = surface || takesMediaSources ? REMEDIES : OWN_REMEDIES;
  const message = `'${param}': this model takes no ${what}. ${remedies[kind]}`;
  return new SvcError("unsupported_media_input", message, { param });
}
