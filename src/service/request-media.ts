// Loads the images and sounds that a request's messages refer to, each as its model can take it.

import { SvcError } from "../domain/errors.ts";
import type { ChatMessage, ContentPart, GenerateRequest, TranscribedInput } from "../domain/generate.ts";
import type { MediaLimits } from "../media/limits.ts";
import { checkCount, loadAll } from "../media/load-all.ts";
import { isSound, type InputTranscriber, type MediaPart } from "./input-transcriber.ts";
import type { TextBackend } from "./model-router.ts";

export interface MediaOptions {
  readonly limits: MediaLimits;
  /** Hears for models that cannot; absent: they are sent no sound. */
  readonly transcriber?: InputTranscriber;
}

/** A request with its media, and what of them became text. */
export interface LoadedRequest {
  readonly request: GenerateRequest;
  readonly transcribed: readonly TranscribedInput[];
}

/**
 * The request with its media; the same one when it has none. Throws SvcError `unsupported_media_input` when the model
 * cannot take a kind of them, `invalid_value` about a medium that cannot be loaded, what the transcriber throws, or the
 * signal's reason.
 */
export async function withMedia(
  request: GenerateRequest,
  backend: TextBackend,
  { limits, transcriber }: MediaOptions,
  signal: AbortSignal,
): Promise<LoadedRequest> {
  const parts = request.messages.flatMap(({ content }) => mediaOf(content));
  if (parts.length === 0) return { request, transcribed: [] };
  const takes = await takenBy(backend, signal);
  const untaken = parts.filter(({ source }) => !takes[source.kind]);
  const unheard = transcriber ? untaken.filter(isSound) : [];
  for (const part of untaken) if (!transcriber || !isSound(part)) throw unsupported(part);
  if (unheard.length > 0) checkCount(parts, limits);
  const transcribed = new Map<ContentPart, TranscribedInput>();
  for (const part of unheard) {
    if (transcriber) transcribed.set(part, await transcriber.transcribe(part, request, signal));
  }
  const heard = { request: withTexts(request, transcribed), transcribed: [...transcribed.values()] };
  const loadable = parts.filter(({ source }) => takes[source.kind]);
  if (backend.takesMediaSources || loadable.length === 0) return heard;
  return { ...heard, request: { ...heard.request, media: await loadAll(loadable, limits, signal) } };
}

/** Which kinds a model takes. What it says of that itself it says once it is loaded, which is waited for. */
async function takenBy(backend: TextBackend, signal: AbortSignal): Promise<Record<"image" | "audio", boolean>> {
  const { engine, surface, takesMediaSources, isDeaf } = backend;
  // Images are refused by the surface.
  if (surface || takesMediaSources) return { image: true, audio: !surface && !isDeaf?.() };
  if (!engine.status().model) await engine.tokenize("", signal);
  const { vision = true, audio = true } = engine.status().model ?? {};
  return { image: vision, audio };
}

/** The texts stand in the places of their sounds. */
function withTexts(request: GenerateRequest, texts: ReadonlyMap<ContentPart, TranscribedInput>): GenerateRequest {
  if (texts.size === 0) return request;
  const messages = request.messages.map((message): ChatMessage => {
    const { content } = message;
    if (typeof content === "string") return message;
    const parts = content.map((part): ContentPart => {
      const text = texts.get(part)?.text;
      return text === undefined ? part : { type: "text", text };
    });
    // As the dialects join them.
    const joined = () => parts.map((part) => (part.type === "text" ? part.text : "")).join("\n");
    return { ...message, content: parts.some(({ type }) => type === "media") ? parts : joined() };
  });
  return { ...request, messages };
}

const mediaOf = (content: ChatMessage["content"]): MediaPart[] =>
  typeof content === "string" ? [] : content.filter((part) => part.type === "media");

function unsupported({ source: { kind }, param }: MediaPart): SvcError {
  const remedy = kind === "audio" ? " The server's option --transcribe-input has it transcribed." : "";
  const message = `'${param}': the loaded model takes no ${kind} input.${remedy}`;
  return new SvcError("unsupported_media_input", message, { param });
}
