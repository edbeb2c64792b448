// API description: speech synthesis.

import { badRequest, jobErrors, tooLarge, upstreamNamed, type Operations } from "./operation.ts";

export const speechOperations: Operations = {
  "POST /v1/audio/speech": {
    summary: "Text as speech",
    description: `The text is synthesized sentence by sentence, and each sentence is sent when it is done: the first
bytes come after the first sentence. response_format sets the format: mp3 (default), opus (in Ogg), aac (ADTS), flac,
wav, pcm (16-bit little-endian, one channel, 24,000 samples a second) or caf. A WAV or FLAC of several sentences is sent
before its length is known, which its header states; a CAF is sent when it is complete, or has ten minutes of sound. A
voice belongs to a model, which is loaded on first use, and unloaded after --idle-unload minutes without a request.
OpenAI's voice names select the most similar voice. instructions are refused, because the voices cannot follow any. A
failure after the first bytes closes the connection. POST /v1/chat/completions/{id}/cancel with the correlation id
cancels a request.`,
    answers: { 200: "The sound." },
    errors: {
      400: badRequest,
      404: `\`not_found\`: there is no voice with this name. ${upstreamNamed}`,
      413: tooLarge("1 MiB"),
      ...jobErrors("there is no speech model, loading it"),
    },
    queued: true,
    stream:
      "With stream_format `sse`: `speech.audio.delta` {type, audio} with pieces of the file in base64, `speech.audio.done` {type, usage} at the end, or `error` {type, error}. usage.input_tokens is the number of phonemes that the voice read; there are no output tokens.",
    example: { input: "The sky is blue.", voice: "alloy", response_format: "wav" },
  },
  "GET /v1/audio/voices": {
    summary: "List the voices",
    description: "Sorted by locale and name. `aliases` are the names of OpenAI's voices that select this voice.",
    query: {
      locale: { description: "Only voices whose language tags begin with this prefix.", schema: { type: "string" } },
    },
    answers: { 200: "The voices." },
    errors: { 503: "`engine_unavailable`: there is no speech model." },
  },
};
