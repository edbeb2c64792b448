// API description: speech synthesis.

import { badRequest, jobErrors, tooLarge, type Operations } from "./operation.ts";

export const speechOperations: Operations = {
  "POST /v1/audio/speech": {
    summary: "Text as speech",
    description: `The text is said sentence by sentence, and each is sent when it is done: the first bytes come after the first sentence.
The format is response_format: mp3 (default), opus (in Ogg), aac (ADTS), flac, wav, pcm (16-bit little-endian, one channel,
24,000 samples a second) or caf. A WAV or FLAC of several sentences is sent before its length is known, and says so in its header; a CAF is sent when it is whole.
A voice belongs to a model, which is loaded on first use, and unloaded after --idle-unload minutes without a request. A name of the
public convention selects the voice that comes nearest to it. instructions are refused: the voices take no instructions. A failure after the first bytes closes the connection.
POST /v1/chat/completions/{id}/cancel with the correlation id ends a request.`,
    answers: { 200: "The sound." },
    errors: {
      400: badRequest,
      404: "`not_found`: there is no voice of this name.",
      413: tooLarge("1 MB"),
      ...jobErrors,
      503: "`server_busy`: the queue is full, or the request waited in it for as long as --queue-timeout allows. `engine_unavailable`: there is no speech model, loading it takes too long or failed, or its engine is stalled. Retry-After gives the time to retry in whole seconds.",
    },
    queued: true,
    stream:
      "With stream_format `sse`: `speech.audio.delta` {type, audio} with pieces of the file in base64, `speech.audio.done` {type, usage} at the end, or `error` {type, error}. usage.input_tokens are the sounds that the voice read; it makes no tokens.",
    example: { input: "The sky is blue.", voice: "alloy", response_format: "wav" },
  },
  "GET /v1/audio/voices": {
    summary: "List the voices",
    description:
      "By locale and name. Query: locale, the beginning of language tags. `aliases` are OpenAI's names that select a voice.",
    answers: { 200: "The voices." },
    errors: { 503: "`engine_unavailable`: there is no speech model." },
  },
};
