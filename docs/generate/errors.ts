// Generates the page of error codes.

import { chatErrors, messagesError } from "../../src/contract/errors.ts";
import { ERROR_MEANINGS, SvcError, type ErrorCode } from "../../src/domain/errors.ts";
import { page, table } from "./table.ts";

export function errorsPage(): string {
  const rows = Object.entries(ERROR_MEANINGS).map(([name, meaning]) => {
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
