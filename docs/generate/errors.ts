// Generates the page of error codes from the contract's table.

import { chatErrors, messagesError } from "../../src/contract/errors.ts";
import { SvcError, type ErrorCode } from "../../src/domain/errors.ts";
import { page, table } from "./table.ts";

/** What each code means and what to do, for users, in one or two sentences. */
const MEANINGS: Readonly<Record<ErrorCode, string>> = {
  invalid_json: "The body is not JSON, or nested too deep, or has too many values.",
  invalid_type: "A field has the wrong type; `param` names it.",
  invalid_value: "A field has a value that is not allowed; the message names the limit.",
  missing_required_parameter: "A required field is missing.",
  unsupported_parameter: "The model, the upstream or this server cannot do what the field requests.",
  unsupported_media_type: "The route does not accept the Content-Type of the body.",
  unsupported_media_input: "The model does not take images or sound, or not in this format.",
  context_length_exceeded:
    "The prompt does not fit the context; the message has both numbers. Shorten it, or start with a larger `--ctx`.",
  input_audio_buffer_commit_empty: "`/v1/realtime`: less sound was committed than can be transcribed.",
  tokenize_unsupported: "This server has no tokenizer for the model in use.",
  no_speech: "There is no speech in the recording.",
  no_text: "There is no text in the image or document.",
  no_tables: "There is no table in the image or document.",
  unprocessable_media: "The image, document or recording is damaged or too large to process.",
  mode_unavailable: "The route exists for compatibility, or needs a model that this server does not have.",
  payload_too_large: "The body is larger than the route takes; it is refused while it is read.",
  invalid_api_key: "The server has API keys, and the request has none of them.",
  request_timeout: "The body did not arrive in time.",
  forbidden_origin: "The request came from a web page of another origin: `--cors-origin` admits it.",
  forbidden_host: "The Host header has a name that the server does not know: `--allowed-host` admits it.",
  not_found: "No such route, file, batch, response or running request.",
  model_not_found: "No model has this name, or its upstream no longer has it.",
  method_not_allowed: "The route does not have this method; `Allow` lists its methods.",
  upgrade_required: "The route is a WebSocket.",
  rate_limit_exceeded:
    "The API key has reached `--key-rpm` or `--key-concurrent`: repeat after `Retry-After`. Or there are too many client secrets, or too much sound or too many events wait in a session of `/v1/realtime`.",
  server_busy: "The queue is full, or the request waited or would wait too long. Repeat after `Retry-After`.",
  deadline_exceeded: "The time of `X-Svc-Deadline-Ms` passed before the first token or result.",
  request_cancelled: "The request was cancelled by its id or by POST /sdapi/v1/interrupt.",
  engine_unavailable:
    "The model takes too long to load, its engine is down or stalled, memory is short, or the server has no such model or component; the message says which. Repeat after `Retry-After`; without this header, the operator usually has to act.",
  engine_crashed: "The engine process ended while it computed this request, which may be the cause.",
  upstream_unavailable: "The model's upstream cannot be reached.",
  upstream_error: "The model's upstream failed or closed the connection.",
  loop_detected: "Another svc forwarded the request, and its model is on a third server.",
  download_failed: "The model could not be downloaded.",
  shutting_down: "The server is stopping.",
  storage_full: "`--data-size` is used up, or the disk is full.",
  storage_unavailable: "The data folder or its database cannot be used.",
  internal_error: "A bug in svc. Please report it.",
};

export function errorsPage(): string {
  const rows = Object.entries(MEANINGS).map(([name, meaning]) => {
    const code = name as ErrorCode;
    const { status, type, retry } = chatErrors[code];
    const messages = messagesError(new SvcError(code, ""), "").error.type;
    return [`\`${name}\``, String(status), `\`${type}\``, `\`${messages}\``, retry === false ? "no" : "", meaning];
  });
  const text = `Every error has the body \`{"error": {message, type, param, code, request_id}}\`. On \`/v1/messages\`, \`type\` is Anthropic's and the body has
\`"type": "error"\` beside it; routes of Ollama's API and of Stable Diffusion's web interface have their own forms. In a stream, an error is the last event
before the terminator. The message names the field, the limit and the size or type received, and never repeats text of a request.

\`no\` in the column _retry_ means that the answer has \`x-should-retry: false\`, so that SDKs do not repeat it by themselves. Errors with
\`Retry-After\` say when to repeat.`;
  const head = ["code", "status", "type", "type on /v1/messages", "retry", "meaning"];
  return page("Errors", text, table(head, rows));
}
