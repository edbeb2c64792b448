// The recorded answers, each part with its official type.

import { join } from "node:path";
import { serverSentEvents } from "../support/streams/events.ts";
import type { TypeName } from "./deviations.ts";

const folder = join(import.meta.dir, "../fixtures/wire");

export interface Part {
  readonly type: TypeName;
  readonly value: unknown;
  /** File and place in it, for messages. */
  readonly from: string;
  /** A line other than the last one, which has the counts. */
  readonly partial: boolean;
}

interface Types {
  /** Absent when the clients have no type for it. */
  readonly whole?: TypeName;
  readonly part?: TypeName;
  /** Type of the event that completes something; by default that of all events. */
  readonly last?: TypeName;
  readonly refusal?: TypeName;
}

const TYPES: Readonly<Record<string, Types>> = {
  chat: { whole: "ChatCompletion", part: "ChatCompletionChunk", refusal: "OpenAIError" },
  completions: { whole: "Completion", part: "Completion", refusal: "OpenAIError" },
  // Each event is one of these with its item's name, or reports a failure of a kind that only svc has.
  multiplex: { whole: "ChatCompletion", part: "ChatCompletionChunk" },
  responses: { whole: "Response", part: "ResponseStreamEvent", refusal: "OpenAIError" },
  compaction: { whole: "CompactedResponse" },
  "conversations-whole": { whole: "Conversation" },
  "conversations-items": { whole: "ConversationItemList" },
  messages: { whole: "Message", part: "RawMessageStreamEvent", refusal: "ErrorResponse" },
  // In the form of Anthropic's API.
  models: { whole: "ModelPage", refusal: "ErrorResponse" },
  model: { whole: "ModelInfo" },
  embeddings: { whole: "CreateEmbeddingResponse", refusal: "OpenAIError" },
  rerank: { refusal: "OpenAIError" },
  transcriptions: { whole: "Transcription", part: "TranscriptionStreamEvent", refusal: "OpenAIError" },
  verbose: { whole: "TranscriptionVerbose" },
  realtime: { part: "RealtimeServerEvent" },
  "realtime-flat": { part: "FlatRealtimeServerEvent" },
  // Two forms of the same secret; test/clients requests both with the clients themselves.
  client: {},
  // The clients return speech as bytes, and have no type for its events or for the list of voices.
  speech: { refusal: "OpenAIError" },
  voices: {},
  // The clients have no type for recognized text.
  ocr: { refusal: "OpenAIError" },
  images: {
    whole: "ImagesResponse",
    part: "ImageGenPartialImageEvent",
    last: "ImageGenCompletedEvent",
    refusal: "OpenAIError",
  },
  edits: {
    whole: "ImagesResponse",
    part: "ImageEditPartialImageEvent",
    last: "ImageEditCompletedEvent",
    refusal: "OpenAIError",
  },
  // A route of svc, with the same answers as the other image routes.
  upscale: { whole: "ImagesResponse", refusal: "OpenAIError" },
  // Another route of svc.
  requests: {},
  // Routes of another API.
  sdapi: {},
  // Routes of llama.cpp.
  llama: {},
  files: { whole: "FileObject", part: "FileObject", refusal: "OpenAIError" },
  batches: { whole: "Batch", part: "Batch", refusal: "OpenAIError" },
  // An error of this API is a string, for which it has no type.
  "ollama-chat": { whole: "ChatResponse", part: "ChatResponse" },
  "ollama-generate": { whole: "GenerateResponse", part: "GenerateResponse" },
};

/** Yields every part of every recorded answer. Throws for a file of an unknown dialect. */
export async function* recordedParts(): AsyncGenerator<Part, void, void> {
  for (const file of [...new Bun.Glob("*").scanSync(folder)].sort()) {
    const types = TYPES[/^(ollama-\w+?|realtime-flat|conversations-\w+|[a-z]+)[-.]/.exec(file)?.[1] ?? ""];
    if (!types) throw new Error(`no dialect is known for ${file}`);
    const text = await Bun.file(join(folder, file)).text();
    yield* partsOf(file, text, types);
  }
}

function* partsOf(file: string, text: string, types: Types): Generator<Part, void, void> {
  function* part(type: TypeName | undefined, value: unknown, place = 0, partial = false): Generator<Part, void, void> {
    if (type) yield { type, value, from: place === 0 ? file : `${file}, ${place}`, partial };
  }
  if (/-(refused|unauthenticated|limited)\.json$/.test(file)) {
    const { refusal } = types;
    const body = JSON.parse(text) as { readonly error: unknown };
    yield* part(refusal, refusal === "ErrorResponse" ? body : body.error);
  } else if (file.endsWith(".json")) yield* part(types.whole, JSON.parse(text));
  // The clients have no type for the lines of a batch's output, and return texts unchanged.
  else if (/\.(jsonl|txt|srt|vtt)$/.test(file)) return;
  else if (file.endsWith(".ndjson")) {
    for (const [index, line] of text.trimEnd().split("\n").entries()) {
      const value = JSON.parse(line) as { readonly done?: boolean; readonly event_id?: string };
      if (value.event_id !== undefined) yield* part(types.part, value, index + 1);
      else if (value.done !== undefined) yield* part(types.part, value, index + 1, !value.done);
    }
  } else {
    for (const [index, { data }] of serverSentEvents(text).entries()) {
      if (data === "[DONE]") continue;
      const value = JSON.parse(data) as { readonly type?: string; readonly object?: string; readonly error?: unknown };
      if (value.object === "batch.error") {
        yield* part("OpenAIError", value.error, index + 1);
        continue;
      }
      if (value.object === "chat.completion") {
        yield* part(types.whole, value, index + 1);
        continue;
      }
      // A ping may come at any time; the client consumes it before its types apply.
      if (value.type === "ping") continue;
      // Sent only on request, by a header of svc; the client recognizes it by its key.
      if ("svc_profile" in value || "svc_profile_extended" in value) continue;
      const isFailure = value.type === "error";
      const isLast = types.last !== undefined && value.type?.endsWith(".completed");
      if (!isFailure) yield* part(isLast ? types.last : types.part, value, index + 1);
      else if (types.refusal !== "OpenAIError") yield* part("ErrorResponse", value, index + 1);
      if (types.part !== "RawMessageStreamEvent" && value.error) yield* part("OpenAIError", value.error, index + 1);
    }
  }
}
