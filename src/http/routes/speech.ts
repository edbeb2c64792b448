// POST /v1/audio/speech and GET /v1/audio/voices

import { Elysia } from "elysia";
import { SpeechRequest, VoiceList } from "../../contract/speech.ts";
import { decodeSpeech } from "../../dialect/speech/decode.ts";
import { encodeVoices, speechWriter } from "../../dialect/speech/encode.ts";
import { SvcError } from "../../domain/errors.ts";
import type { SpeechEvent, SpeechFormat } from "../../domain/speech.ts";
import { beginJob } from "../begin-job.ts";
import { byteStream } from "../byte-stream.ts";
import type { AppDeps } from "../deps.ts";
import { isStreamed, streamResponse } from "../generation-response.ts";
import { bodyCeilings } from "../json-body.ts";
import { fileContent, hooksOf, jsonAnswer, jsonContent } from "../json-content.ts";
import type { RequestContext } from "../request-context.ts";

const TYPES: Readonly<Record<SpeechFormat, string>> = {
  mp3: "audio/mpeg",
  opus: "audio/ogg",
  aac: "audio/aac",
  flac: "audio/flac",
  wav: "audio/wav",
  pcm: "audio/pcm",
  caf: "audio/x-caf",
};

type Spoken = AsyncGenerator<Exclude<SpeechEvent, { readonly type: "started" }>, void, void>;

const described = hooksOf(fileContent(Object.values(TYPES)), jsonContent(SpeechRequest));

/** Converts text to speech. */
export const speechRoutes = (deps: AppDeps) =>
  new Elysia({ name: "route.speech" })
    .post("/v1/audio/speech", ({ request }) => speak(deps, request), described)
    .get(
      "/v1/audio/voices",
      async ({ request }) => {
        const prefix = new URL(request.url).searchParams.get("locale") ?? "";
        return Response.json(encodeVoices(await deps.speech.voices(), prefix));
      },
      jsonAnswer(VoiceList),
    );

async function speak(deps: AppDeps, request: Request): Promise<Response> {
  const { work, voice, locale, model, events } = decodeSpeech(await deps.bodies.read(request, bodyCeilings.small));
  const { origin, context, report } = beginJob(deps, request, ({ usage }) => ({ phonemes: usage?.promptTokens }));
  const spoken = deps.speech.speak({ ...origin, work, model, voice, locale }, context.signal, report);
  // Until the first sentence is spoken, a failure has its own status.
  const first = await firstAudio(spoken);
  const all = behind(first, spoken);
  if (isStreamed(deps, events)) {
    const { id: requestId } = context;
    return streamResponse(deps, request, all, (put) => speechWriter(put, { requestId }));
  }
  const body = context.stream((reader) => byteStream(bytesOf(all, context), reader));
  return new Response(body, { headers: { "Content-Type": TYPES[work.format] } });
}

async function firstAudio(spoken: Spoken): Promise<SpeechEvent> {
  for (;;) {
    const { value, done } = await spoken.next();
    if (done) throw new SvcError("internal_error", "The voice produced no sound.");
    if (value.type !== "accepted") return value;
  }
}

async function* behind(first: SpeechEvent, rest: Spoken): AsyncGenerator<SpeechEvent, void, void> {
  try {
    yield first;
    yield* rest;
  } finally {
    await rest.return();
  }
}

async function* bytesOf(
  spoken: AsyncGenerator<SpeechEvent, void, void>,
  { signal, onUnexpected }: RequestContext,
): AsyncGenerator<Uint8Array, void, void> {
  try {
    for await (const event of spoken) if (event.type === "audio") yield event.bytes;
  } catch (error) {
    if (!signal.aborted && !(error instanceof SvcError)) onUnexpected(error);
    throw error;
  }
}
