// API description: speech as text while it is spoken. OpenAPI cannot describe socket messages, so this text does.

import { BACKLOG_SECONDS, IDLE_MS } from "../../service/live/session.ts";
import { LONGEST_UTTERANCE_SECONDS } from "../../service/live/turn-detector.ts";
import { MOST_SECRETS } from "../../service/client-secrets.ts";
import { LARGEST_MESSAGE } from "../socket.ts";
import { badRequest, tooLarge, type Operations } from "./operation.ts";

const description = `A WebSocket on which a client sends sound as it is spoken and gets its words: the transcription mode of
OpenAI's Realtime API, and nothing else of it. Messages are JSON, one event each. An API key may also come as the subprotocol
\`openai-insecure-api-key.KEY\` beside \`realtime\`, which is how a page sends one; so may a secret of POST /v1/realtime/client_secrets.

**From the client.** \`session.update\` with session: {type: "transcription", audio: {input: {format, transcription, turn_detection}}},
of which what is absent stays. format: {type: "audio/pcm", rate: 24000 or 16000} (16 bits, little-endian, one channel; the default is 24000),
{type: "audio/pcmu"} or {type: "audio/pcma"} (G.711, 8000); it cannot change once sound has come. transcription: {model, language, prompt} as of
/v1/audio/transcriptions. turn_detection: {type: "server_vad", threshold: 0.5, prefix_padding_ms: 300, silence_duration_ms: 500}, or null:
then the client says where an utterance ends. noise_reduction is taken, and always null in what is in effect.
\`input_audio_buffer.append\` {audio: base64, whole samples}, \`input_audio_buffer.commit\`, \`input_audio_buffer.clear\`. The API's
first form is taken, too: \`transcription_session.update\` with input_audio_format, input_audio_transcription and turn_detection; events
about the session and its items are in the form in which the client last spoke, or asked for by \`OpenAI-Beta: realtime=v1\`. An \`event_id\`
comes back in the error that the event causes.

**To the client.** \`session.created\`, \`session.updated\`; of an utterance \`input_audio_buffer.speech_started\`, \`.speech_stopped\` (with turn
detection), \`.committed\`, \`conversation.item.added\` and \`.done\` (first form: \`.created\`),
\`conversation.item.input_audio_transcription.delta\` {item_id, delta}, and at its end \`.completed\` {item_id, transcript, usage: {type: "duration", seconds}}
or \`.failed\` {item_id, error}; \`input_audio_buffer.cleared\`; \`error\` {error: {type, code, message, param, event_id}}, behind which the
session goes on. An utterance without speech has the transcript "". Long ones are recognised in pieces while they go on.
Events that belong to conversations (\`response.create\`, \`conversation.item.create\`, …) are \`error\` \`unsupported_parameter\`.

**Ends.** Code 1000: cancelled by the correlation id (POST /v1/chat/completions/{id}/cancel; an item's id ends its recognition alone). 1001: the
server shuts down, behind the last utterance. 1008: nothing came for ${IDLE_MS / 1000} seconds, --max-audio-minutes of sound have come, or
the time of X-Svc-Deadline-Ms is over. 1009: a message above ${LARGEST_MESSAGE / 2 ** 20} MiB. 1011: the model cannot be loaded, or a failure of the
server's. An \`error\` comes before all but 1009. A client that leaves 4 MiB unread is disconnected. Up to ${BACKLOG_SECONDS} seconds of sound may
wait to be recognised (\`rate_limit_exceeded\`); an utterance is cut off after ${LONGEST_UTTERANCE_SECONDS} seconds, and what follows is the next one.`;

const secretErrors = {
  400: badRequest,
  413: tooLarge("1 MB"),
  429: `\`rate_limit_exceeded\`: there are ${MOST_SECRETS} that have not expired.`,
  503: "`engine_unavailable`: there is no transcription model.",
};

export const realtimeOperations: Operations = {
  "POST /v1/realtime/client_secrets": {
    summary: "Make a secret with which a page opens sessions",
    description: `A server makes it with its API key and hands it to a page, which opens GET /v1/realtime with it in the key's place,
as often as it likes until it expires. It opens nothing else. Its sessions begin with the settings of \`session\` (those of
\`session.update\`), and count as those of the API key. Where no keys are asked for, a secret gives its sessions their settings all the same.
Secrets are kept in memory: they end with the server.`,
    answers: { 200: "The secret, and the session as it will begin." },
    errors: secretErrors,
    example: { expires_after: { anchor: "created_at", seconds: 60 }, session: { type: "transcription" } },
  },
  "POST /v1/realtime/transcription_sessions": {
    summary: "Make such a secret, in the convention's first form",
    description:
      "As POST /v1/realtime/client_secrets: the body is the session of transcription_session.update, and the answer has the secret as client_secret.",
    answers: { 200: "The session as it will begin, with the secret." },
    errors: secretErrors,
    example: { input_audio_format: "pcm16" },
  },
  "GET /v1/realtime": {
    summary: "Speech as text while it is spoken (WebSocket)",
    description,
    answers: { 101: "The connection is a WebSocket from here on." },
    errors: {
      400: `${badRequest} The query, or the headers of the upgrade.`,
      401: "`invalid_api_key`: the client secret has expired, or is not one of this server's.",
      426: "`upgrade_required`: the request asks for no WebSocket.",
      503: "`server_busy`: there are as many sessions as --max-realtime-sessions allows. `engine_unavailable`: there is no transcription model. Retry-After gives the time to retry in whole seconds.",
    },
    queued: true,
    requestHeaders: {
      "X-Svc-Deadline-Ms": {
        description: "Milliseconds after which the session ends.",
        schema: { type: "integer", minimum: 1 },
      },
      "Sec-WebSocket-Protocol": {
        description: "`realtime`, and an API key or a client secret as `openai-insecure-api-key.KEY`.",
        schema: { type: "string" },
      },
    },
  },
};
