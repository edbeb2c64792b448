// API description: speech as text while it is spoken. OpenAPI cannot describe socket messages, so this text does.

import { BACKLOG_SECONDS, IDLE_MS } from "../../service/live/session.ts";
import { LONGEST_UTTERANCE_SECONDS } from "../../service/live/turn-detector.ts";
import { MOST_SECRETS } from "../../service/client-secrets.ts";
import { LARGEST_MESSAGE } from "../socket.ts";
import { badRequest, tooLarge, unavailableWhen, type Operations } from "./operation.ts";

const description = `A WebSocket on which a client sends sound as it is spoken and receives its text: the transcription
mode of OpenAI's Realtime API, and no other mode. Messages are JSON, one event each. An API key may also be sent as the
subprotocol \`openai-insecure-api-key.KEY\` beside \`realtime\`, which is how a web page sends one; so may a secret of
POST /v1/realtime/client_secrets.

**From the client.** \`session.update\` with session: {type: "transcription", audio: {input: {format, transcription,
turn_detection}}}; settings that are absent stay unchanged. format: {type: "audio/pcm", rate: 24000 or 16000} (16 bits,
little-endian, one channel; the default is 24000), {type: "audio/pcmu"} or {type: "audio/pcma"} (G.711, 8000); it cannot
change once sound has arrived. transcription: {model, language, prompt} as in /v1/audio/transcriptions. turn_detection:
{type: "server_vad", threshold: 0.5, prefix_padding_ms: 300, silence_duration_ms: 500}, or null: then the client commits
each utterance. noise_reduction is accepted without effect: the settings in effect always have null.
\`input_audio_buffer.append\` {audio: base64, whole samples}, \`input_audio_buffer.commit\`,
\`input_audio_buffer.clear\`. The first form of the API is also accepted: \`transcription_session.update\` with
input_audio_format, input_audio_transcription and turn_detection. Events about the session and its items have the form
that the client used last, or the first form if it was requested by \`OpenAI-Beta: realtime=v1\`. An \`event_id\` is
repeated in the error that the event causes.

**To the client.** \`session.created\`, \`session.updated\`. For each utterance: \`input_audio_buffer.speech_started\`,
\`.speech_stopped\` (with turn detection), \`.committed\`, \`conversation.item.added\` and \`.done\` (first form:
\`.created\`), \`conversation.item.input_audio_transcription.delta\` {item_id, delta}, and last \`.completed\` {item_id,
transcript, usage: {type: "duration", seconds}} or \`.failed\` {item_id, error}. Also \`input_audio_buffer.cleared\`,
and \`error\` {error: {type, code, message, param, event_id}}, after which the session continues. An utterance without
speech has the transcript "". Long utterances are transcribed in pieces while they are spoken. Events that belong to
conversations (\`response.create\`, \`conversation.item.create\`, …) get an \`error\` with the code
\`unsupported_parameter\`.

**How a session ends.** Code 1000: cancelled by the correlation id (POST /v1/chat/completions/{id}/cancel; an item's id
cancels only the transcription of that item, while it runs). 1001: the server shuts down, after the last utterance. 1008: nothing
arrived for ${IDLE_MS / 1000} seconds while no sound was transcribed, the sound exceeds --max-audio-minutes, or the time of X-Svc-Deadline-Ms has
passed. 1009: a message is larger than ${LARGEST_MESSAGE / 2 ** 20} MiB. 1011: the model cannot be loaded, or the server
failed. Every code except 1009 is preceded by an \`error\`. A client that leaves 4 MiB unread is disconnected. Up to
${BACKLOG_SECONDS} seconds of sound may wait to be transcribed (more: \`rate_limit_exceeded\`). An utterance is cut off
after ${LONGEST_UTTERANCE_SECONDS} seconds, or shortly before in a pause; what follows is the next utterance.`;

const noModel = "`engine_unavailable`: there is no transcription model.";

const secretErrors = {
  400: badRequest,
  413: tooLarge("1 MiB"),
  429: `\`rate_limit_exceeded\`: there are already ${MOST_SECRETS} secrets that have not expired, and none makes way.`,
  503: noModel,
};

export const realtimeOperations: Operations = {
  "POST /v1/realtime/client_secrets": {
    summary: "Create a secret with which a web page opens sessions",
    description: `A server creates the secret with its API key and gives it to a web page. The page opens GET
/v1/realtime with the secret in place of an API key, any number of times until the secret expires. The secret is valid
for nothing else. Its sessions begin with the settings of \`session\` (those of \`session.update\`), and count as
sessions of the API key. On a server without API keys, a secret still gives its sessions their settings. Secrets are
kept in memory and are lost when the server ends. While there are ${MOST_SECRETS}, the oldest of a client with many makes way
for one of another client.`,
    answers: { 200: "The secret, and the settings with which a session begins." },
    errors: secretErrors,
    example: { expires_after: { anchor: "created_at", seconds: 60 }, session: { type: "transcription" } },
  },
  "POST /v1/realtime/transcription_sessions": {
    summary: "Create a client secret, in the first form of OpenAI's API",
    description:
      "The same as POST /v1/realtime/client_secrets in another form: the body is the session of transcription_session.update, and the answer has the secret as client_secret.",
    answers: { 200: "The settings with which a session begins, with the secret." },
    errors: secretErrors,
    example: { input_audio_format: "pcm16" },
  },
  "GET /v1/realtime": {
    summary: "Speech as text while it is spoken (WebSocket)",
    description,
    query: {
      intent: { description: "The only supported mode.", schema: { type: "string", enum: ["transcription"] } },
      model: {
        description: "A transcription model of GET /v1/models; default, also for unknown names: the first one.",
        schema: { type: "string" },
      },
    },
    answers: { 101: "The connection becomes a WebSocket." },
    errors: {
      400: `${badRequest} The place is in the query or the headers of the upgrade.`,
      401: "`invalid_api_key`: the client secret has expired or is not known to this server.",
      426: "`upgrade_required`: the request does not ask for a WebSocket.",
      503: unavailableWhen("--max-realtime-sessions sessions are already open, and none makes way", noModel),
    },
    queued: true,
    requestHeaders: {
      "X-Svc-Deadline-Ms": {
        description: "Milliseconds after which the session ends.",
        schema: { type: "integer", minimum: 1 },
      },
      "Sec-WebSocket-Protocol": {
        description: "`realtime`, and optionally an API key or a client secret as `openai-insecure-api-key.KEY`.",
        schema: { type: "string" },
      },
    },
  },
};
